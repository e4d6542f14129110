"""Makes crates/adjoin-data/tests/data/ply_data_*.h5: small files of the form of ModelNet40's HDF5 files.

Needs h5py. Shape s, point p is at (s, p, -p) / 8; classes alternate. The train file is chunked and
compressed as the public ones, the test file is not.

    python scripts/make_hdf5_sample.py
"""

import pathlib

import h5py
import numpy as np

FOLDER = pathlib.Path(__file__).parent.parent / "crates/adjoin-data/tests/data"


def write(name, shapes, **options):
    points = np.zeros((shapes, 8, 3), np.float32)
    points[:, :, 0] = np.arange(shapes)[:, None] / 8
    points[:, :, 1] = np.arange(8) / 8
    points[:, :, 2] = -np.arange(8) / 8
    labels = (np.arange(shapes, dtype=np.uint8) % 2)[:, None]
    with h5py.File(FOLDER / name, "w", libver="earliest") as file:
        file.create_dataset("data", data=points, **options)
        file.create_dataset("label", data=labels, **options)


write("ply_data_train0.h5", 20, compression="gzip", compression_opts=4)
write("ply_data_test0.h5", 4)
