internal import Foundation
internal import ThreadedNotifications

/// F21: the only port that Foundation has on Linux. This package's counterpart is `SignalPort`.
extension PlatformFact {
    static let socketPort: [PlatformFact] = [
        PlatformFact(
            number: "F21", area: "SocketPort",
            expected: "a port of this computer, whose run loop receives its messages",
            questions: [
                TrialQuestion(
                    "port-is-local", "a port cannot be reached from other computers",
                    expected: TrialExpectation(events: ["cannot be reached"]),
                    foundation: { notes in
                        let port = SocketPort()
                        note(address: address(of: port.socket), notes)
                        port.invalidate()
                    },
                    ours: .body { notes in
                        let before = openSockets()
                        let port = SignalPort()
                        RunLoop.main.add(port, forMode: .default)
                        let opened = openSockets().subtracting(before)
                        note(address: opened.first, notes)
                        port.invalidate()
                    }),
                TrialQuestion(
                    "port-delivers", "the document's signal is received, and a message with content, within a second",
                    sentence:
                        "The receiving thread’s run loop sends the incoming messages to the handleMachMessage: method "
                        + "of the port’s delegate.",
                    expected: TrialExpectation(events: ["signal received", "message received"]),
                    foundation: { notes in
                        let (port, isReceived) = (SocketPort(), Locked(false))
                        let receiver = SignalReceiver { isReceived.withLock { $0 = true } }
                        port.setDelegate(receiver)
                        RunLoop.main.add(port, forMode: .common)
                        TrialTimeouts.endProcess(after: .seconds(3), notes, saying: "still blocked")
                        let half = Duration.milliseconds(500)
                        _ = port.send(before: Date(), components: nil, from: nil, reserved: 0)
                        TrialTimeouts.runMain(until: { isReceived.withLock { $0 } }, timeout: half)
                        notes.note(isReceived.withLock { $0 } ? "signal received" : "no signal received")
                        isReceived.withLock { $0 = false }
                        if let remote = SocketPort(remoteWithTCPPort: tcpPort(of: port.socket), host: "127.0.0.1") {
                            _ = remote.send(
                                before: Date(timeIntervalSinceNow: 1),
                                components: NSMutableArray(object: NSData(data: Data("content".utf8))), from: port,
                                reserved: 0)
                            TrialTimeouts.runMain(until: { isReceived.withLock { $0 } }, timeout: half)
                        }
                        notes.note(isReceived.withLock { $0 } ? "message received" : "no message received")
                    },
                    ours: .other(TrialExpectation(events: ["signal received"])) { notes in
                        let (port, receiver) = (SignalPort(), SignalReceiver { notes.note("signal received") })
                        port.setDelegate(receiver)
                        RunLoop.main.add(port, forMode: .common)
                        Thread.detachNewThread {
                            port.send(before: Date(), components: nil, from: nil, reserved: 0)
                        }
                        TrialTimeouts.runMain(until: { !notes.events.isEmpty }, timeout: TrialTimeouts.ours)
                        port.invalidate()
                    }),
            ])
    ]

    private static func note(address: String?, _ notes: TrialNotes) {
        let isLocal = address.map { $0.hasPrefix("127.") || !$0.contains(".") } ?? true
        notes.note(
            isLocal ? "cannot be reached" : "can be reached",
            detail: address.map { "listens on \($0)" } ?? "opens no socket")
    }

    private static func socketAddress(of socket: Int32) -> sockaddr_in {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        return address
    }

    private static func address(of socket: Int32) -> String {
        let address = socketAddress(of: socket)
        guard address.sin_family == sa_family_t(AF_INET) else { return "another kind of socket" }
        return withUnsafeBytes(of: address.sin_addr) { $0.map(String.init).joined(separator: ".") }
    }

    private static func tcpPort(of socket: Int32) -> UInt16 { UInt16(bigEndian: socketAddress(of: socket).sin_port) }

    /// The sockets that are open in this process.
    private static func openSockets() -> Set<String> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return Set(
            names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
                .filter { $0.hasPrefix("socket:") })
    }
}
