//! The networks against PyTorch: their outputs, losses and gradients are those in the files that the
//! scripts of the folder `golden` wrote.

mod dagnet;
mod file;
mod points;
mod social_stgcnn;
