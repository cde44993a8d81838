//! What the tests of every crate share: random tests that record and replay their failures, and commands whose output is read.

mod command;
mod property;

pub use command::plain;
pub use property::Property;
#[doc(hidden)]
pub use proptest::test_runner::TestCaseError;
