import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The program of a `FaultClient`. Among other tests it does nothing.
final class FaultClientProgram: XCTestCase {
    static let roleVariable = "FAULT_CLIENT"
    static let placeVariable = "FAULT_CLIENT_PLACE"
    /// The descriptor it writes to.
    static let output: Int32 = 3

    func testIsAClientInAnotherProcess() throws {
        let environment = ProcessInfo.processInfo.environment
        guard let role = environment[Self.roleVariable].flatMap(FaultClient.Role.init) else { return }
        let directory = ServerDirectory(path: environment[Self.placeVariable] ?? "")
        // Ends this process even if the process that started it is gone.
        alarm(120)
        do {
            switch role {
            case .observer: try Self.observe(directory)
            case .onlyOnce: try Self.postToItself(directory)
            case .forker: try Self.fork(directory)
            case .stranger: try Self.beSomebodyElse(directory)
            case .lowered:
                try XCTSkipUnless(seteuid(Self.nobody) == 0)
                Self.tellWhyItCannotPost(directory)
            case .copied:
                try XCTSkipUnless(seteuid(Self.nobody) == 0)
                try Self.startAServer(directory)
            case .limited:
                try Self.setLimit(RLIMIT_NOFILE, soft: 40, hard: 40)
                Self.tellWhyItCannotPost(directory)
            case .limitedSoftly:
                try Self.setLimit(RLIMIT_NOFILE, soft: 40)
                try Self.setLimit(RLIMIT_CPU, soft: 1000)
                try Self.postToItself(directory)
            }
        } catch {
            Self.say("failed \(error)")
        }
        _exit(0)
    }

    private static func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(output, bytes, bytes.count)
    }

    private static func observe(_ directory: ServerDirectory) throws {
        let center = try DistributedCenter(directory: directory, limits: .patient)
        let counted = Locked(Tally())
        @Sendable func say(_ what: String) {
            let tally = counted.withLock { $0 }
            Self.say("\(what) \(tally.received) \(tally.gap) \(tally.isInOrder)")
        }
        let number = Locked<UInt64>(0)
        let connection = center.addConnectionObserver { event in
            switch event {
            case .gap(let gap):
                counted.withLock {
                    $0.gap += gap.observers[number.withLock { $0 }] ?? 0
                    $0.gaps += 1
                }
                say("gap")
            case .interrupted: say("interrupted")
            case .connected(let server): Self.say("connected \(server)")
            case .failed(let error): Self.say("failed \(error)")
            }
        }
        let observer = try center.addObserver(forName: .numbered, suspensionBehavior: .hold) { notification in
            counted.withLock {
                let number = notification.object.flatMap { Int($0) } ?? -1
                if number <= $0.last { $0.isInOrder = false }
                $0.last = number
                $0.received += 1
            }
        }
        number.withLock { $0 = observer.id }
        let mark = try center.addObserver(forName: .mark) { _ in say("mark") }
        try center.synchronize(timeout: TestTimeout.hang)
        Self.say("ready")
        withExtendedLifetime((connection, observer, mark)) {
            while true { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
        }
    }

    private static func postToItself(_ directory: ServerDirectory) throws {
        let center = try DistributedCenter(directory: directory, limits: .patient)
        let own = "\(getpid())"
        let received = Locked<Int32?>(nil)
        let observer = try center.addObserver(forName: .once, object: own) { notification in
            received.withLock { $0 = notification.sender }
        }
        // Beyond the post's limit: so many processes start on so few processors.
        try center.synchronize(timeout: TestTimeout.hang)
        try center.post(name: .once, object: own)
        RunLoop.main.run(until: .now + TestTimeout.hang) { received.withLock({ $0 }) != nil }
        guard received.withLock({ $0 }) == getpid(), case .connected(let server) = center.connectionState else {
            return say("received nothing: \(center.connectionState)")
        }
        say("served \(server)")
        withExtendedLifetime(observer) {}
    }

    private static func fork(_ directory: ServerDirectory) throws {
        let center = try DistributedCenter(directory: directory, limits: .patient)
        let received = Locked(0)
        let observer = try center.addObserver(forName: .forked) { _ in received.withLock { $0 += 1 } }
        try center.synchronize(timeout: TestTimeout.hang)
        // Safety: glibc's fork, which Swift's module hides because of what may follow: here the copy only posts and
        // ends.
        let fork = unsafeBitCast(try XCTUnwrap(dlsym(nil, "fork")), to: (@convention(c) () -> Int32).self)
        let copy = fork()
        if copy == 0 {
            alarm(20)
            // Each of these may wait for a lock or a thread that is not there, so that the alarm ends it.
            center.suspend()
            observer.cancel()
            center.close()
            do throws(DistributedError) {
                try center.post(name: .forked)
                _exit(1)
            } catch {
                guard error == .processForked else { _exit(2) }
            }
            do throws(DistributedError) {
                try DistributedCenter(directory: directory, limits: .patient).post(name: .forked)
                _exit(3)
            } catch {
                _exit(error == .processForked ? 0 : 4)
            }
        }
        var status: Int32 = 0
        waitpid(copy, &status, 0)
        try center.post(name: .forked)
        RunLoop.main.run(until: .now + TestTimeout.hang) { received.withLock({ $0 }) != 0 }
        say("copy \(status) parent \(received.withLock { $0 }) \(center.isSuspended)")
        withExtendedLifetime(observer) {}
    }

    static let nobody: uid_t = 65534

    private static func tellWhyItCannotPost(_ directory: ServerDirectory) {
        do throws(DistributedError) {
            try DistributedCenter(directory: directory).post(name: .once)
            say("posted")
        } catch {
            say("\(ServerDirectory.default.path): \(error)")
        }
    }

    private static func startAServer(_ directory: ServerDirectory) throws {
        try directory.prepare()
        let listener = try LocalSocket.bound(at: directory.socketPath)
        guard let program = ServerProgram.find().program else { return say("there is no server program") }
        let end = ServerProcess.start(
            program, listener: listener, directory: directory.path, until: .now + TestTimeout.hang)
        say(end ?? "it listens")
    }

    private static func setLimit(_ resource: __rlimit_resource, soft: rlim_t, hard: rlim_t? = nil) throws {
        var limit = rlimit()
        getrlimit(Int32(resource.rawValue), &limit)
        limit.rlim_cur = soft
        limit.rlim_max = hard ?? limit.rlim_max
        guard setrlimit(Int32(resource.rawValue), &limit) == 0 else { throw POSIXError(.EPERM) }
    }

    private static func beSomebodyElse(_ directory: ServerDirectory) throws {
        guard setuid(nobody) == 0 else { return say("setuid failed") }
        guard
            case .connected(let socket) = try LocalSocket.connect(
                to: directory.socketPath, until: .now + TestTimeout.hang)
        else { return say("not connected") }
        var hello = FrameWriter()
        hello.hello(suspended: false, name: "stranger")
        // If it is refused before that is written, it cannot be.
        _ = send(socket.descriptor, hello.bytes, hello.bytes.count, Int32(MSG_NOSIGNAL))
        let decoder = FrameDecoder()
        while true {
            let space = decoder.space()
            let count = recv(socket.descriptor, space.baseAddress, space.count, 0)
            guard count > 0 else { return say("ended") }
            decoder.received(count)
            guard let frame = try decoder.next() else { continue }
            var reader = WireReader(frame.payload)
            guard frame.kind == FrameKind.goodbye.rawValue else { return say("frame of kind \(frame.kind)") }
            say(try Goodbye(&reader).text)
            return
        }
    }
}

extension Notification.Name {
    static let mark = Notification.Name("mark")
    fileprivate static let once = Notification.Name("once")
    fileprivate static let forked = Notification.Name("fork")
}

extension RunLoop {
    /// Runs the calling thread's loop until it is so, or the deadline has passed.
    func run(until deadline: SuspendingClock.Instant, _ isSo: () -> Bool) {
        while !isSo(), SuspendingClock.now < deadline {
            _ = run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
        }
    }
}
