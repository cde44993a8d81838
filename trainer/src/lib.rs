//! What the card is for: the seed nodes of the mini-batches, the verifier, and the `trisage` command.

#![forbid(unsafe_code)]
