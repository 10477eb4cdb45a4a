internal import CControl
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// The baseline without a server: one thread writes frames, and another relays them.
final class RelayPoster {
    let path: String
    private let directory: String
    private let listener: Int32
    private var relay: OpaquePointer?
    private var source: Int32 = -1
    /// A frame as a server delivers it; its content has no effect on the measurement.
    private let frame: [UInt8]

    init() throws {
        var template = Array("/tmp/notify-demo-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchmarkError.notMade("a directory in /tmp", code: errno) }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = "\(directory)/socket"
        listener = CControlListen(path)
        var frame = [UInt8](repeating: 0, count: DistributedPoster.frameSize)
        frame[0] = UInt8(frame.count - 4)
        frame[4] = 66
        self.frame = frame
        guard listener >= 0 else {
            let error = errno
            try? FileManager.default.removeItem(atPath: directory)
            throw BenchmarkError.notMade("a socket", code: error)
        }
    }

    /// Accepts the connections of `readers` readers that have already connected.
    func start(readers: Int, core: Int?) throws(BenchmarkError) {
        var targets: [Int32] = []
        for _ in 0..<readers { targets.append(accept(listener, nil, nil)) }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            for target in targets { close(target) }
            throw .notMade("two sockets", code: errno)
        }
        source = ends[0]
        relay = CControlRelayCreate(ends[1], targets, Int32(targets.count), Int32(core ?? -1))
        if relay == nil { throw .notMade("the control's thread", code: errno) }
    }

    func post() throws {
        let count = send(source, frame, frame.count, Int32(MSG_NOSIGNAL))
        guard count == frame.count else { throw BenchmarkError.notMade("a whole write", code: errno) }
    }

    func end() {
        if let relay { CControlRelayDestroy(relay) }
        if source >= 0 { close(source) }
        close(listener)
        try? FileManager.default.removeItem(atPath: directory)
    }
}
