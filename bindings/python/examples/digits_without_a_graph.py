"""Classification without a graph: the learner finds neighbours among the features alone.

    pip install "adjoin[sklearn]" && python digits_without_a_graph.py

The digits of scikit-learn, 8 x 8 pixels, with ten labels of each kind.
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits

from adjoin import NodeClassifier

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=200)
parser.add_argument("--labels", type=int, default=10, help="of each class")
options = parser.parse_args()

x, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
train = np.zeros(len(y), bool)
for digit in range(10):
    train[[node for node in order if y[node] == digit][: options.labels]] = True

settings = {"train.epochs": options.epochs}
for learner, backbone in (("none", "mlp"), ("knn", "gcn"), ("dgg", "gcn")):
    model = NodeClassifier(learner, backbone, settings=settings, random_state=0)
    model.fit(x, y, train_mask=train)
    right = (model.predict(x) == y)[~train].mean()
    print(f"{learner:>5} + {backbone}: {100 * right:.1f} % of the {(~train).sum()} other digits, {model.graph_}")
