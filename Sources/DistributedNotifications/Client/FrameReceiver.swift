internal import CLinux
internal import Glibc

/// Receives frames from one socket, without waiting.
struct FrameReceiver {
    private let socket: LocalSocket
    private let decoder = FrameDecoder(capacity: 256 << 10)
    /// The last read filled all space, so the socket may hold more bytes. Otherwise reading again would be a wasted
    /// call.
    private var mayHoldMore = false

    init(_ socket: LocalSocket) {
        self.socket = socket
    }

    enum Outcome {
        case received
        /// The connection ended, with a reason.
        case ended(String)
        case empty
    }

    /// The next frame, if all of it was received. It is valid until `receive`.
    func next() throws(WireError) -> Frame? { try decoder.next() }

    /// Receives the bytes that the socket holds.
    ///
    /// - Parameter isReadable: whether poll(2) has just reported the socket as readable.
    mutating func receive(isReadable: Bool) -> Outcome {
        guard isReadable || mayHoldMore else { return .empty }
        let space = decoder.space()
        while true {
            let count = recv(socket.descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                mayHoldMore = count == space.count
                decoder.received(count)
                return .received
            }
            mayHoldMore = false
            switch count == 0 ? ECONNRESET : errno {
            case EINTR: continue
            case EAGAIN: return .empty
            case ECONNRESET: return .ended("the server ended")
            case let error: return .ended(String(cString: strerror(error)))
            }
        }
    }
}
