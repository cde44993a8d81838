//! Tools that are run: each of them, with all that it starts, can be ended from another thread.

use std::{
    io::{self, Read},
    os::unix::process::CommandExt,
    process::{Child, Command, Output, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

/// The tools of this process.
struct Tools {
    /// No other is started.
    ended: bool,
    /// The process groups of those that run.
    groups: Vec<Pid>,
}

static TOOLS: Mutex<Tools> = Mutex::new(Tools { ended: false, groups: Vec::new() });

fn tools() -> MutexGuard<'static, Tools> {
    TOOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a tool to its end, and returns what it says, as [`Command::output`] does. It is in a process group of its own: signals that
/// are for this process reach it through [`end_tools`].
///
/// # Errors
/// If it cannot be run.
pub fn run_tool(command: &mut Command) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let (mut child, group) = {
        let mut tools = tools();
        if tools.ended {
            return Err(io::Error::other("no tool is started any more, as this process ends"));
        }
        let child = command.spawn()?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        tools.groups.extend(group);
        (child, group)
    };
    let said = listen(&mut child);
    if let Some(group) = group {
        // It stays there, so that no other group can have its number until ours is forgotten.
        let there = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(group), there).is_err_and(|error| error == Errno::INTR) {}
        tools().groups.retain(|other| *other != group);
    }
    let status = child.wait()?;
    let (stdout, stderr) = said?;
    Ok(Output { status, stdout, stderr })
}

/// All that it writes to stdout and to stderr.
fn listen(child: &mut Child) -> io::Result<(Vec<u8>, Vec<u8>)> {
    fn all(from: Option<impl Read>) -> io::Result<Vec<u8>> {
        let mut bytes = vec![];
        from.map_or(Ok(0), |mut from| from.read_to_end(&mut bytes))?;
        Ok(bytes)
    }
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let stderr = thread::Builder::new().spawn_scoped(scope, || all(stderr))?;
        let stdout = all(stdout)?;
        Ok((stdout, stderr.join().expect("reading does not panic")?))
    })
}

/// Ends every tool that runs, with all that it has started. No other is started any more: this is for the end of the process.
pub fn end_tools() {
    let mut tools = tools();
    tools.ended = true;
    for group in tools.groups.drain(..) {
        let _ = kill_process_group(group, Signal::KILL); // it may have ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_says_is_told_apart() {
        // More than a pipe holds, to both.
        let script = "yes out | head -c 200000; yes err | head -c 200000 >&2; exit 3";
        let output = run_tool(Command::new("sh").args(["-c", script])).unwrap();
        assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(3), 200_000, 200_000));
        assert!(output.stdout.starts_with(b"out") && output.stderr.starts_with(b"err"));
        assert!(run_tool(&mut Command::new("/nowhere/tool")).is_err());
    }
}
