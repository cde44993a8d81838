//! What the tests of every crate share: random tests that record and replay their failures, commands whose output is read,
//! files as `NumPy` writes them, and a data set to train with.

mod command;
pub mod files;
mod learnable;
mod property;

pub use command::plain;
pub use learnable::learnable;
pub use property::Property;
#[doc(hidden)]
pub use proptest::test_runner::TestCaseError;
