//! What is said when things go wrong.
