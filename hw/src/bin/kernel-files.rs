//! Writes what Vivado needs to package the kernel for a board. `hw/vitis/build.sh` runs it.

#![forbid(unsafe_code)]

use std::{
    env,
    ffi::OsStr,
    fs,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

use hw::{
    board::Board,
    kernel_xml,
    vitis::{link::LinkFile, package},
};

const USAGE: &str = "\
usage: kernel-files BOARD                    print the board's platform and index channels
       kernel-files BOARD LINK-FILE FOLDER   check the link file, then write kernel.tcl, kernel.xml and the wrapper";

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let board = |name: &OsStr| name.to_string_lossy().parse::<&Board>().map_err(|why| why.to_string());
    let done = match &arguments[..] {
        [name] => board(name).and_then(|board| {
            let facts = writeln!(io::stdout(), "{} {}", board.platform, board.kernel.channels);
            facts.map_err(|why| format!("stdout: cannot be written: {why}"))
        }),
        [name, link, folder] => board(name).and_then(|board| write(board, Path::new(link), Path::new(folder))),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn write(board: &Board, link: &Path, folder: &Path) -> Result<(), String> {
    let text = fs::read_to_string(link).map_err(|why| format!("{}: cannot be read: {why}", link.display()))?;
    let in_file = |why| format!("{}: {why}", link.display());
    LinkFile::parse(&text).and_then(|file| file.check(board)).map_err(in_file)?;
    let wrapper = format!("{}.v", package::WRAPPER);
    for (name, content) in [
        ("kernel.tcl", package::description(board)),
        ("kernel.xml", kernel_xml::package(board.kernel.channels)),
        (wrapper.as_str(), package::wrapper(board.kernel)),
    ] {
        let path = folder.join(name);
        fs::write(&path, content).map_err(|why| format!("{}: cannot be written: {why}", path.display()))?;
    }
    Ok(())
}
