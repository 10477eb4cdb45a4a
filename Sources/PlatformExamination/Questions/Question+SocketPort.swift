internal import Foundation
internal import ThreadedNotifications

/// F21: the only port that Foundation has on Linux. This package's counterpart is `SignalPort`.
extension Question {
    static let socketPort: [Question] = [
        Question(
            "port-is-local", "a port cannot be reached from other computers", fact: "F21",
            expected: ["cannot be reached"]
        ) { trial in
            let port = SocketPort()
            note(address: address(of: port.socket)[4..<8].map(String.init).joined(separator: "."), trial)
            port.invalidate()
        } ours: { trial in
            let before = openSockets()
            let port = trial.add(SignalPort()) {}
            note(address: openSockets().subtracting(before).first, trial)
            port.invalidate()
        },
        Question(
            "port-delivers", "the document's signal is received, and a message with content, within a second",
            sentence:
                "The receiving thread’s run loop sends the incoming messages to the handleMachMessage: method of the "
                + "port’s delegate.",
            fact: "F21", expected: ["signal received", "message received"], ofOurs: ["signal received"]
        ) { trial in
            let isReceived = Locked(false)
            let port = trial.add(SocketPort()) { isReceived.withLock { $0 = true } }
            @MainActor func noteWhetherReceived(_ message: String) {
                trial.run(until: { isReceived.withLock { $0 } }, timeout: .milliseconds(500))
                trial.note(isReceived.withLock { $0 } ? "\(message) received" : "no \(message) received")
                isReceived.withLock { $0 = false }
            }
            trial.endProcess(after: .seconds(3), noting: "still blocked")
            _ = port.send(before: Date(), components: nil, from: nil, reserved: 0)
            noteWhetherReceived("signal")
            let number = address(of: port.socket)[2..<4].reduce(0) { $0 << 8 | UInt16($1) }
            let remote = SocketPort(remoteWithTCPPort: number, host: "127.0.0.1")
            _ = remote?.send(
                before: Date(timeIntervalSinceNow: 1),
                components: NSMutableArray(object: NSData(data: Data("content".utf8))), from: port, reserved: 0)
            noteWhetherReceived("message")
        } ours: { trial in
            let port = trial.add(SignalPort()) { trial.note("signal received") }
            Thread.detachNewThread { port.send(before: Date(), components: nil, from: nil, reserved: 0) }
            trial.runUntilNextEvent()
        },
    ]

    private static func note(address: String?, _ trial: Trial) {
        let isLocal = address.map { $0.hasPrefix("127.") || !$0.contains(".") } ?? true
        trial.note(
            isLocal ? "cannot be reached" : "can be reached",
            detail: address.map { "listens on \($0)" } ?? "opens no socket")
    }

    /// The bytes of an IPv4 socket's address: the family, the port and the computer's address.
    private static func address(of socket: Int32) -> [UInt8] {
        var (bytes, length) = ([UInt8](repeating: 0, count: 16), socklen_t(16))
        _ = bytes.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: sockaddr.self) { getsockname(socket, $0.baseAddress, &length) }
        }
        return bytes
    }

    /// The sockets that are open in this process.
    private static func openSockets() -> Set<String> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return Set(
            names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
                .filter { $0.hasPrefix("socket:") })
    }
}
