//! What XRT's software emulation says to the process behind it, and what it wants to hear: protocol buffers behind headers of
//! fixed size, over a Unix socket (XRT `common_em/rpc_messages.proto`, numbers in `include/xcl_macros.h`).

use std::io::{self, Read, Write};

use prost::Message;

/// Bytes of a message at most. XRT cuts copies into pieces of 8 MiB.
pub(super) const MAX_MESSAGE: u64 = 16 << 20;

/// What comes before a request. Both fields are always there, so it has 14 bytes.
#[derive(Clone, PartialEq, Message)]
struct CallHeader {
    #[prost(fixed64, required, tag = "1")]
    size: u64,
    #[prost(fixed32, required, tag = "2")]
    api: u32,
}

const CALL_HEADER: u64 = 14;

/// What comes before a reply: 9 bytes.
#[derive(Clone, PartialEq, Message)]
struct ReplyHeader {
    #[prost(fixed64, required, tag = "1")]
    size: u64,
}

/// Numbers of the requests that are not merely acknowledged.
pub(super) mod api {
    pub(crate) const CLOSE: u32 = 1;
    pub(crate) const ALLOC: u32 = 4;
    pub(crate) const FREE: u32 = 5;
    pub(crate) const HOST_TO_DEVICE: u32 = 6;
    pub(crate) const DEVICE_TO_HOST: u32 = 7;
    pub(crate) const WRITE_KERNEL: u32 = 9;
    pub(crate) const READ_KERNEL: u32 = 11;
    pub(crate) const COPY_BO: u32 = 22;
    pub(crate) const IMPORT_BO: u32 = 27;
    pub(crate) const REG_WRITE: u32 = 51;
    pub(crate) const REG_READ: u32 = 52;
}

/// `xclClose_call`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Close {
    /// Whether the process is to end; otherwise another xclbin follows.
    #[prost(bool, tag = "3")]
    pub(super) all: bool,
}

/// `xclAllocDeviceBuffer_call`; [`api::FREE`] has the address alone.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Alloc {
    #[prost(uint64, tag = "1")]
    pub(super) address: u64,
    #[prost(uint64, tag = "2")]
    pub(super) bytes: u64,
    /// Whether the host maps it: then the reply names a file with its content.
    #[prost(bool, tag = "3")]
    pub(super) shared: bool,
}

/// `xclCopyBufferHost2Device_call`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ToDevice {
    #[prost(uint64, tag = "3")]
    pub(super) address: u64,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) data: Vec<u8>,
}

/// `xclCopyBufferDevice2Host_call`. (Its field 2 is room for the answer, as long as that; it is passed over.)
#[derive(Clone, PartialEq, Message)]
pub(super) struct ToHost {
    #[prost(uint64, tag = "4")]
    pub(super) address: u64,
    #[prost(uint64, tag = "5")]
    pub(super) bytes: u64,
}

/// `xclWriteAddrKernelCtrl_call` and `xclReadAddrKernelCtrl_call`: consecutive registers.
#[derive(Clone, PartialEq, Message)]
pub(super) struct KernelAccess {
    #[prost(uint64, tag = "2")]
    pub(super) address: u64,
    #[prost(uint32, tag = "3")]
    pub(super) bytes: u32,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) data: Vec<u8>,
}

/// `xclRegWrite_call` and `xclRegRead_call`: one register of one kernel.
#[derive(Clone, PartialEq, Message)]
pub(super) struct RegisterWrite {
    #[prost(uint32, tag = "1")]
    pub(super) base: u32,
    #[prost(uint32, tag = "2")]
    pub(super) offset: u32,
    #[prost(bytes = "vec", tag = "3")]
    pub(super) data: Vec<u8>,
}

/// `xclRegRead_call`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct RegisterRead {
    #[prost(uint32, tag = "1")]
    pub(super) base: u32,
    #[prost(uint32, tag = "2")]
    pub(super) offset: u32,
}

/// `xclCopyBO_call`: from card memory into a file that a reply to [`Alloc`] named.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CopyBo {
    #[prost(uint64, tag = "1")]
    pub(super) from: u64,
    #[prost(string, tag = "2")]
    pub(super) file: String,
    #[prost(uint64, tag = "3")]
    pub(super) bytes: u64,
    #[prost(uint64, tag = "4")]
    pub(super) from_offset: u64,
    #[prost(uint64, tag = "5")]
    pub(super) to_offset: u64,
}

/// `xclImportBO_call`: the buffer at an address is from now on the content of such a file.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ImportBo {
    #[prost(string, tag = "1")]
    pub(super) file: String,
    #[prost(uint64, tag = "2")]
    pub(super) address: u64,
}

/// Every reply has a number (or a truth, which looks the same) as field 1, and some have bytes (or text) as field 2.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Reply {
    #[prost(uint64, required, tag = "1")]
    pub(super) value: u64,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(super) data: Option<Vec<u8>>,
}

impl Reply {
    /// It was done.
    pub(super) fn done() -> Self {
        Self { value: 1, data: None }
    }

    /// It was not.
    pub(super) fn refused() -> Self {
        Self { value: 0, data: None }
    }
}

/// A request: its number, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) api: u32,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// The body as a message of this type.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub(super) fn decode<M: Message + Default>(&self) -> Result<M, String> {
        let wrong = |error| format!("request {} of {} bytes cannot be read: {error}", self.api, self.body.len());
        M::decode(&*self.body).map_err(wrong)
    }
}

/// The next request; `None` when the other side has closed.
///
/// # Errors
/// What is wrong with its header, or with the connection.
pub(super) fn receive(stream: &mut impl Read) -> Result<Option<Request>, String> {
    let mut header = Vec::new();
    match stream.by_ref().take(CALL_HEADER).read_to_end(&mut header) {
        Ok(0) => return Ok(None),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
        Err(error) => return Err(format!("the connection with XRT failed: {error}")),
    }
    if (header.len() as u64) < CALL_HEADER {
        return Err(format!("a request is cut off after {} of the {CALL_HEADER} bytes of its header", header.len()));
    }
    let CallHeader { size, api } = CallHeader::decode(&header[..])
        .map_err(|error| format!("a request has no header that can be read: {error}"))?;
    if size > MAX_MESSAGE {
        return Err(format!("request {api} says that it has {size} bytes; the most there may be is {MAX_MESSAGE}"));
    }
    let mut body = Vec::new();
    // Memory grows with what has really come.
    let came = stream.by_ref().take(size).read_to_end(&mut body);
    came.map_err(|error| format!("request {api} is cut off: {error}"))?;
    if (body.len() as u64) < size {
        return Err(format!("request {api} is cut off after {} of {size} bytes", body.len()));
    }
    Ok(Some(Request { api, body }))
}

/// Sends a reply.
///
/// # Errors
/// If the connection failed.
pub(super) fn send(stream: &mut impl Write, reply: &Reply) -> Result<(), String> {
    let body = reply.encode_to_vec();
    let mut bytes = ReplyHeader { size: body.len() as u64 }.encode_to_vec();
    bytes.extend(body);
    stream.write_all(&bytes).map_err(|error| format!("the connection with XRT failed: {error}"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A request as XRT sends it.
    pub(crate) fn call(api: u32, message: &impl Message) -> Vec<u8> {
        let body = message.encode_to_vec();
        let mut bytes = CallHeader { size: body.len() as u64, api }.encode_to_vec();
        assert_eq!(bytes.len() as u64, CALL_HEADER);
        bytes.extend(body);
        bytes
    }

    /// Replies as XRT reads them.
    pub(crate) fn replies(mut bytes: &[u8]) -> Vec<Reply> {
        let mut replies = vec![];
        while !bytes.is_empty() {
            let (header, rest) = bytes.split_at(9);
            let size = ReplyHeader::decode(header).unwrap().size as usize;
            replies.push(Reply::decode(&rest[..size]).unwrap());
            bytes = &rest[size..];
        }
        replies
    }

    #[test]
    fn requests_come_as_they_were_sent() {
        let alloc = Alloc { address: 0x4_0000_1000, bytes: 4096, shared: true };
        let bytes = [call(api::ALLOC, &alloc), call(api::CLOSE, &Close { all: true })].concat();
        let mut stream = &bytes[..];
        let first = receive(&mut stream).unwrap().unwrap();
        assert_eq!((first.api, first.decode::<Alloc>()), (api::ALLOC, Ok(alloc)));
        assert_eq!(receive(&mut stream).unwrap().unwrap().decode(), Ok(Close { all: true }));
        assert_eq!(receive(&mut stream), Ok(None));
    }

    /// XRT sends its whole process group a signal when it fails; its last words are still read to their end.
    #[test]
    fn a_signal_does_not_cut_off_a_request() {
        struct Interrupted<'a>(&'a [u8], bool);
        impl Read for Interrupted<'_> {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                self.1 = !self.1;
                if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(&mut into[..1]) }
            }
        }
        let bytes = call(api::CLOSE, &Close { all: true });
        let mut stream = Interrupted(&bytes, false);
        assert_eq!(receive(&mut stream).unwrap().unwrap().decode(), Ok(Close { all: true }));
        assert_eq!(receive(&mut stream), Ok(None));
    }

    #[test]
    fn replies_have_the_headers_that_xrt_reads() {
        let mut bytes = vec![];
        send(&mut bytes, &Reply { value: 4, data: Some(vec![1, 2, 3, 4]) }).unwrap();
        // Field 1 as fixed64 (tag 0x09): 8 bytes follow; then field 1 as a number, field 2 as four bytes.
        assert_eq!(bytes, [9, 8, 0, 0, 0, 0, 0, 0, 0, 8, 4, 18, 4, 1, 2, 3, 4]);
    }

    #[test]
    fn what_is_no_request_is_told() {
        let refused = |bytes: &[u8]| receive(&mut &bytes[..]).unwrap_err();
        assert!(refused(b"GET / HTTP/1.1\r\n").contains("no header that can be read"));
        assert!(refused(&call(3, &Close::default())[..5]).contains("cut off after 5 of the 14 bytes"));
        let header = CallHeader { size: 1 << 40, api: 6 }.encode_to_vec();
        assert_eq!(
            refused(&header),
            "request 6 says that it has 1099511627776 bytes; the most there may be is 16777216"
        );
        let long = call(6, &ToDevice { address: 1, data: vec![0; 100] });
        assert_eq!(refused(&long[..60]), "request 6 is cut off after 46 of 104 bytes");
        let nonsense = Request { api: 4, body: vec![0xFF; 20] };
        assert!(nonsense.decode::<Alloc>().unwrap_err().starts_with("request 4 of 20 bytes cannot be read: "));
    }
}
