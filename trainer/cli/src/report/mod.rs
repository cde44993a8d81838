//! What was measured, as text for people.

pub(crate) mod table;
pub(crate) mod traffic;
pub(crate) mod transfers;
pub(crate) mod verify;
