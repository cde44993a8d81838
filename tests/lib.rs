//! What must hold for every back end. Everything is in the tests beside this file; what they share is in `support/`.
