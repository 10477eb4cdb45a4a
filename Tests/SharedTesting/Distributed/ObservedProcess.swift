internal import CLinux
internal import Foundation
internal import Glibc
internal import XCTest

/// A process, and its state as /proc shows it.
package struct ObservedProcess: Hashable {
    package let id: Int32

    package init(_ id: Int32) {
        self.id = id
    }

    /// The memory in use, in bytes.
    package var residentBytes: Int { (field("VmRSS:") ?? 0) << 10 }

    /// The private memory that is reserved, whether in use or not, in bytes.
    package var dataBytes: Int { (field("VmData:") ?? 0) << 10 }

    /// How often it began to wait.
    package var waits: Int { field("voluntary_ctxt_switches:") ?? 0 }

    package var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/fd").count) ?? 0
    }

    /// True while it waits for an event.
    package var isSleeping: Bool { state == "S" }

    private var state: Substring? {
        let stat = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
        return stat?.split(separator: ")").last?.split(separator: " ").first
    }

    private func field(_ name: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.filter(\.isNumber)) }
    }

    /// Stops the process (SIGSTOP) until `body` returns.
    package func stopped<Value>(_ body: () throws -> Value) rethrows -> Value {
        kill(id, SIGSTOP)
        defer { kill(id, SIGCONT) }
        XCTAssertTrue(eventually { state == "T" })
        return try body()
    }

    /// Kills the process (SIGKILL), and waits until it is gone.
    package func end() {
        let descriptor = CLinuxOpenProcess(id)
        // There is no such process any more.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        kill(id, SIGKILL)
        var ending = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&ending, 1, Int32(TestTimeout.seconds * 1000))
    }
}
