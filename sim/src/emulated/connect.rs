//! The card's process: what XRT starts.

use std::{
    env, fs,
    io::{ErrorKind, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process, thread,
    time::{Duration, Instant},
};

use super::{
    Card, Kernels, ServeError,
    environment::{CARD_FOLDER, FAULTS},
    place, serve,
};

/// XRT listens soon after it has started the process.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(5);

/// Serves the XRT that has started this process, until it closes the card. What was wrong is kept in the environment's folder, and
/// said when the command has ended.
///
/// Signals are for the command, which closes the card when it ends: the connection says so. This process gets them as well, as it
/// is of the same group; they are ignored where XRT starts it (`signals.c`).
///
/// # Errors
/// [`ServeError`] for what cannot be kept there.
pub fn serve_xrt(card: Card, kernels: &Kernels) -> Result<(), ServeError> {
    let wrong = |what: String| ServeError::Wire(what);
    let folder = env::var_os(CARD_FOLDER).map(PathBuf::from);
    let folder =
        folder.ok_or_else(|| wrong(format!("{CARD_FOLDER} is not set; XRT starts this process, nobody else")))?;
    let (user, socket) = (env::var_os("USER"), env::var_os("EMULATION_SOCKETID"));
    let path = user.zip(socket).map(|(user, socket)| place::socket_folder(user).join(socket));
    let path = path.ok_or_else(|| {
        wrong("USER or EMULATION_SOCKETID is not set; XRT needs the one, and sets the other".to_owned())
    })?;
    let mut stream = connect(&path).map_err(|error| wrong(format!("{}: {error}", path.display())))?;
    // The command may be a script that opens several cards at a time.
    let buffers = folder.join(format!("buffers-{}", process::id()));
    fs::create_dir(&buffers).map_err(|error| wrong(format!("{}: {error}", buffers.display())))?;
    let served = serve(&mut stream, card, kernels, &buffers);
    let faults = match &served {
        Ok(served) => served.faults.clone(),
        Err(error) => vec![error.to_string()],
    };
    let file = fs::OpenOptions::new().append(true).open(folder.join(FAULTS));
    let text: String = faults.iter().map(|fault| fault.replace('\n', " ") + "\n").collect();
    let kept = file.and_then(|mut file| file.write_all(text.as_bytes()));
    kept.map_err(|error| wrong(format!("{}: {error}", folder.join(FAULTS).display())))
}

fn connect(path: &Path) -> std::io::Result<UnixStream> {
    let begin = Instant::now();
    loop {
        match UnixStream::connect(path) {
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
                    && begin.elapsed() < PATIENCE =>
            {
                thread::sleep(PAUSE);
            }
            outcome => return outcome,
        }
    }
}
