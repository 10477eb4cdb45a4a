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
    package var residentBytes: Int {
        field("VmRSS:").map { $0 << 10 } ?? 0
    }

    /// The private memory that is reserved, whether in use or not, in bytes.
    package var dataBytes: Int {
        field("VmData:").map { $0 << 10 } ?? 0
    }

    /// The anonymous memory, without mapped files, in bytes.
    package var ownBytes: Int {
        field("RssAnon:").map { $0 << 10 } ?? 0
    }

    /// The number of voluntary and involuntary context switches.
    package var switches: Int? {
        guard let voluntary = field("voluntary_ctxt_switches:"), let other = field("nonvoluntary_ctxt_switches:") else {
            return nil
        }
        return voluntary + other
    }

    /// The processor time, in clock ticks.
    package var ticks: Int? {
        let fields = fieldsAfterItsName
        guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else { return nil }
        return user + system
    }

    /// True while the process sleeps and waits for an event.
    package var isSleeping: Bool { state == "S" }

    package var isStopped: Bool { state == "T" }

    private var state: Substring? { fieldsAfterItsName.first }

    /// The fields of /proc/PID/stat after the name; empty if the process is gone.
    private var fieldsAfterItsName: [Substring] {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8) else { return [] }
        return text.split(separator: ")").last?.split(separator: " ") ?? []
    }

    private func field(_ name: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) }
        }
        return nil
    }

    /// True if the process has ended and all of its descriptors are closed.
    ///
    /// Its first thread may have ended, which makes it a zombie, while another thread still holds the descriptors.
    package var isGone: Bool {
        let fields = fieldsAfterItsName
        guard fields.count > 17 else { return true }
        return kill(id, 0) != 0 || fields[0] == "Z" && fields[17] == "1"
    }

    /// Kills the process, and waits until it is gone.
    package func end() {
        let descriptor = CLinuxOpenProcess(id)
        // There is no such process any more.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        kill(id, SIGKILL)
        var ending = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&ending, 1, Int32(TestTimeout.seconds * 1000))
    }

    /// Sets the highest number of descriptors that the process may have.
    package func limitDescriptors(to count: UInt) throws {
        typealias Function =
            @convention(c) (
                Int32, UInt32, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?
            ) -> Int32
        // Safety: the types are those of prlimit in glibc's manual; Swift's module does not offer the function.
        let prlimit = unsafeBitCast(try XCTUnwrap(dlsym(nil, "prlimit")), to: Function.self)
        var limit = rlimit()
        try XCTSkipIf(prlimit(id, RLIMIT_NOFILE.rawValue, nil, &limit) != 0, "limits of other processes are not shown")
        try XCTSkipIf(limit.rlim_max < count, "a process may have \(limit.rlim_max) descriptors at most")
        limit.rlim_cur = rlim_t(count)
        XCTAssertEqual(prlimit(id, RLIMIT_NOFILE.rawValue, &limit, nil), 0)
    }
}
