//! What concerns the whole process.

/// What is said when XRT's driver ends the process: it does so to all processes that use a card whose firewall has tripped.
const BUS_ERROR: &[u8] =
    b"error: bus error (SIGBUS): the card does not answer any more, or its firewall has tripped; look at \
dmesg, and reset it as root with 'xbutil reset' or 'xrt-smi reset', which ends everything that uses the card\n";

/// The exit code then: 128 and the number of the signal, as a shell has it.
const BUS_ERROR_EXIT: i32 = 128 + libc::SIGBUS;

extern "C" fn on_bus_error(_: i32) {
    // SAFETY: `write` may be called from a signal handler, and the bytes are static.
    let _ = unsafe { libc::write(libc::STDERR_FILENO, BUS_ERROR.as_ptr().cast(), BUS_ERROR.len()) };
    end_at_once(BUS_ERROR_EXIT);
}

/// From now on a SIGBUS ends the process with a sentence in place of none. (Rust's own handler looks for stack overflows, which are
/// SIGSEGV on Linux.)
pub(crate) fn explain_bus_errors() {
    let handler: extern "C" fn(i32) = on_bus_error;
    // SAFETY: the handler calls nothing but `write` and `_exit`, which POSIX allows in one.
    unsafe { libc::signal(libc::SIGBUS, handler as libc::sighandler_t) };
}

/// Ends the process without running any destructor: XRT's crash when handles are open.
pub fn end_at_once(code: i32) -> ! {
    // SAFETY: `_exit` takes any code and does not return.
    unsafe { libc::_exit(code) }
}
