//! What goes to stdout and stderr.

use std::io::{self, Write};

use crate::{error::CliError, interrupt};

/// Writes a message to stderr.
pub(crate) fn say(message: &str) {
    // Nothing can be said any more if stderr is closed.
    let _ = writeln!(io::stderr(), "{}", printable(message));
}

/// The message with what would steer a terminal, from the name of a file perhaps, escaped.
fn printable(message: &str) -> String {
    message.chars().fold(String::with_capacity(message.len()), |mut text, c| {
        if c.is_control() && c != '\n' && c != '\t' {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
        text
    })
}

/// Writes a result to stdout.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    if interrupt::came() {
        return Err(CliError::Interrupted);
    }
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Output(error)),
        _ => Ok(()),
    }
}

/// Writes a result to stdout as JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), CliError> {
    let json = serde_json::to_string_pretty(value).map_err(|error| CliError::Output(error.into()))?;
    print(&(json + "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_do_not_steer_the_terminal() {
        assert_eq!(printable("\u{1b}[31mr\u{e9}d\r.txt: no\n\tat all"), "\\u{1b}[31mr\u{e9}d\\r.txt: no\n\tat all");
    }
}
