internal import DistributedNotifications
internal import Foundation
internal import Glibc
internal import NotificationServer
internal import ThreadedNotifications

/// Connections that count inbound notifications without a center, to measure the server alone. One thread reads all.
final class WireObservers {
    /// The size of the frame of a notification that the benchmark posts. Nothing else follows a registration.
    static let frameSize = 200

    private var sockets: [LocalSocket] = []
    private let poll: EventPoll
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Registers an observer on each connection.
    /// - Throws: `DistributedError` if no process listens, or one answer takes longer than `timeout`.
    init(_ count: Int, at directory: ServerDirectory, timeout: Duration) throws(DistributedError) {
        let path = directory.socketPath
        guard let poll = EventPoll() else { throw .pathNotUsable(path: path, problem: SystemError.text(errno)) }
        self.poll = poll
        for index in 0..<count {
            guard let socket = try LocalSocket.connect(to: path, until: .after(timeout)) else {
                throw .pathNotUsable(path: path, problem: "no process accepts connections there")
            }
            let error = poll.watch(socket.descriptor, as: UInt64(index), reading: true, writing: false, isNew: true)
            guard error == 0 else { throw .pathNotUsable(path: path, problem: SystemError.text(error)) }
            sockets.append(socket)
            // Before the next connection, because a server limits the number of those that have not yet sent hello.
            try register(socket, path: path, timeout: timeout)
        }
    }

    private func register(_ socket: LocalSocket, path: String, timeout: Duration) throws(DistributedError) {
        var frames = FrameWriter()
        frames.hello(suspended: false, name: "benchmark")
        frames.register(1, name: Distributed.name.rawValue, object: nil, behavior: .hold)
        frames.frame(.synchronize) { $0.integer(UInt64(1)) }
        // The buffer of a new connection has room for these few bytes.
        var isOpen = send(socket.descriptor, frames.bytes, frames.bytes.count, Int32(MSG_NOSIGNAL)) > 0
        let (decoder, deadline) = (FrameDecoder(), SuspendingClock.Instant.after(timeout))
        while isOpen {
            while let frame = try? decoder.next() {
                if frame.kind == FrameKind.synchronized.rawValue { return }
            }
            var descriptor = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            guard Glibc.poll(&descriptor, 1, deadline.millisecondsFromNow) != 0 else {
                throw .notAnswered("a registration", path: path, timeout: timeout)
            }
            let space = decoder.space()
            let count = recv(socket.descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
            decoder.received(max(0, count))
            isOpen = count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
        }
        throw .serverRefused(path: path, problem: "it ended the connection")
    }

    /// Counts, on the calling thread, until a descriptor can be read or a connection ends.
    ///
    /// - Parameter handled: called with the index of a connection and the number of further notifications.
    func count(until end: Int32, handled: (_ observer: Int, _ count: Int) -> Void) {
        guard poll.watch(end, as: .max, reading: true, writing: false, isNew: true) == 0 else { return }
        var bytes = sockets.map { _ in 0 }
        while true {
            for event in 0..<poll.wait(milliseconds: -1) {
                let index = Int(clamping: poll[event].number)
                guard index < sockets.count else { return }
                let count = recv(sockets[index].descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                guard count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR) else { return }
                bytes[index] += max(0, count)
                let frames = bytes[index] / Self.frameSize
                bytes[index] -= frames * Self.frameSize
                if frames > 0 { handled(index, frames) }
            }
        }
    }
}
