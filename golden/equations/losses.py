"""Losses on learned graphs."""

import torch

from .book import Csr, clear, close, random_pairs, topic


@topic
def losses(book):
    """Scalars; the gradients are of the loss itself (no probe).

    intermediate: candidate entries whose two ends are training nodes, target 1 if the classes agree;
      mean of -log p over the positives / 2 + mean of -log(1 - p) over the negatives / 2.
    low_rank: sum of the r largest singular values of A (r = 1, 2, 3): `low_rank.1.` ...; the gradient
      at a stored entry is sum_s u_si v_sj.
    consistency: p_s = softmax(logits_s); target = mean_s(p)^(1/T) made to sum to 1, without gradient;
      mean over samples and nodes of the squared distance summed over classes.
    """
    n = 9
    c = Csr(n, n, random_pairs(book, n, n, 34))
    c.save(book, "intermediate.")
    classes = torch.tensor([0, 1, 2, 0, 1, 0, 2, 1, 0])
    train = torch.tensor([1, 1, 0, 1, 1, 1, 0, 1, 0])
    book.put("intermediate.classes", classes)
    book.put("intermediate.train", train)
    logp = book.input("intermediate.logp", book.random(c.entries, low=-3.0, high=-0.05))
    use = (train[c.i] == 1) & (train[c.j] == 1)
    same = classes[c.i] == classes[c.j]
    count = (use & same).sum(), (use & ~same).sum()
    assert min(count) > 1 and count[0] != count[1], count
    positive, negative = -logp[use & same], -torch.log(-torch.expm1(logp[use & ~same]))
    loss = positive.mean() / 2 + negative.mean() / 2
    # the same through weights that sum to one half in each class
    p = torch.exp(logp[use]).detach()
    target = same[use].double()
    weight = target / target.sum() / 2 + (1 - target) / (1 - target).sum() / 2
    bce = torch.nn.functional.binary_cross_entropy(p, target, weight=weight, reduction="sum")
    close(loss.detach(), bce)
    book.put("intermediate.out", loss.reshape(1))
    book.grads("intermediate.", loss, {"logp": logp})

    a = Csr(8, 8, random_pairs(book, 8, 8, 26, loops=True))
    a.save(book, "low_rank.")
    weights = book.input("low_rank.weights", book.random(a.entries, low=0.05, high=1.0))
    dense = a.dense(weights)
    u, s, vt = torch.linalg.svd(dense.detach())
    book.put("low_rank.singular", s)
    for r in (1, 2, 3):
        clear(s[r - 1] - s[r], 1e-2)
        loss = torch.linalg.svdvals(dense)[:r].sum()
        book.put(f"low_rank.{r}.out", loss.reshape(1))
        book.grads(f"low_rank.{r}.", loss, {"weights": weights})
        close(book.tensors[f"low_rank.{r}.grad.weights"], (u[:, :r] @ vt[:r])[a.i, a.j], 1e-10)

    samples, temperature = 3, 0.5
    logits = book.input("consistency.logits", book.random(samples, 6, 4, low=-2, high=2))
    book.put("consistency.temperature", temperature)
    p = torch.softmax(logits, 2)
    target = p.mean(0).pow(1 / temperature)
    target = (target / target.sum(1, keepdim=True)).detach()
    loss = (p - target).pow(2).sum(2).mean()
    book.put("consistency.probabilities", p)
    book.put("consistency.target", target)
    book.put("consistency.out", loss.reshape(1))
    book.grads("consistency.", loss, {"logits": logits, "probabilities": p})
