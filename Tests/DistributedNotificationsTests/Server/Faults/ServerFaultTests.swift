import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// A server that is killed, or has no room, as its clients see it.
final class ServerFaultTests: XCTestCase {
    private final class Watched: Sendable {
        struct Seen {
            var interruptions = 0
            var connections: [Int32] = []
            var numbers: [Int] = []
        }

        let seen = Awaited(Seen())
        let center: DistributedCenter

        init(_ temporary: ServerDirectory) throws {
            center = try DistributedCenter(directory: temporary, limits: .patient)
        }

        func observe(on thread: RunLoopThread) throws -> [ObserverToken] {
            let connection = center.addConnectionObserver(on: thread) { [self] event in
                seen.withLock {
                    switch event {
                    case .connected(let server): $0.connections.append(server)
                    case .interrupted: $0.interruptions += 1
                    // On a busy machine the next server may be late; it is tried again.
                    case .failed: break
                    case .gap: $0.numbers.append(.min)
                    }
                }
            }
            let observer = try center.addObserver(forName: .numbered, suspensionBehavior: .hold, on: thread) { [self] in
                let number = $0.object.flatMap { Int($0) } ?? -1
                seen.withLock { $0.numbers.append(number) }
            }
            try center.synchronize(timeout: TestTimeout.hang)
            return [connection, observer]
        }
    }

    func testAServerWhoseSocketIsRemovedEndsAndItsClientsConnectToTheNext() throws {
        let temporary = try FaultDirectory()
        _ = try temporary.startServer()
        let thread = RunLoopThread(name: "observers")
        try thread.start()
        defer { thread.stop() }
        let watched = try Watched(temporary.directory)
        let tokens = try watched.observe(on: thread)
        XCTAssertEqual(unlink(temporary.directory.socketPath), 0)
        XCTAssertTrue(watched.seen.wait { $0.connections.count == 2 })
        try watched.center.synchronize(timeout: TestTimeout.hang)
        let poster = try DistributedCenter(directory: temporary.directory, limits: .patient)
        try poster.post(name: .numbered, object: "1")
        XCTAssertTrue(watched.seen.wait { $0.numbers == [1] })
        XCTAssertEqual(watched.seen.withLock { $0.interruptions }, 1)
        XCTAssertEqual(
            poster.connectionState, watched.seen.withLock { .connected(serverProcess: $0.connections.last ?? 0) })
        withExtendedLifetime(tokens) {}
    }

    func testAKilledServerIsOneInterruptionForEachObserverAndNoNotificationIsRepeated() throws {
        let temporary = try FaultDirectory()
        _ = try temporary.startServer()
        let thread = RunLoopThread(name: "observers")
        try thread.start()
        defer { thread.stop() }
        let watched = try (0..<5).map { _ in try Watched(temporary.directory) }
        var tokens = try watched.flatMap { try $0.observe(on: thread) }
        let processes = try (0..<2).map { _ in try FaultClient(.observer, at: temporary) }
        for process in processes {
            XCTAssertEqual(try process.line(), "ready")
            XCTAssertEqual(try process.line().split(separator: " ").first, "connected")
        }
        let poster = try DistributedCenter(directory: temporary.directory, limits: .patient)
        try poster.synchronize(timeout: TestTimeout.hang)
        // Each round has so many posts; else the observers' thread would be far behind.
        let burst = TestRounds.rounds(1_000, stress: 3_000)
        let begin = DispatchSemaphore(value: 0)
        let posting = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            for round in 0...FaultRounds.kills {
                begin.wait()
                for number in round * burst..<(round + 1) * burst {
                    // It waits for the next server, and is refused by none.
                    do { try poster.post(name: .numbered, object: "\(number)") } catch { XCTFail("\(error)") }
                }
                posting.signal()
            }
        }
        for kill in 1...FaultRounds.kills {
            // All clients receive from this server, and many notifications are in transit.
            begin.signal()
            let first = (kill - 1) * burst
            XCTAssertTrue(
                watched.allSatisfy { $0.seen.wait { ($0.numbers.last ?? -1) >= first } },
                "round \(kill): nothing comes")
            let socket = try XCTUnwrap(try ServerStart.connectIfServed(temporary.directory, timeout: TestTimeout.hang))
            ObservedProcess(try XCTUnwrap(socket.peer).process).end()
            XCTAssertTrue(
                watched.allSatisfy { $0.seen.wait { $0.connections.count == kill + 1 } },
                "round \(kill): \(watched.map { $0.seen.withLock { ($0.connections, $0.interruptions) } })"
            )
            for process in processes {
                let words = try process.line().split(separator: " ")
                XCTAssertEqual([words.first, words.last], ["interrupted", "true"], "round \(kill)")
                var next = try process.line()
                while next.hasPrefix("failed") { next = try process.line() }
                XCTAssertEqual(next.split(separator: " ").first, "connected")
            }
            XCTAssertEqual(
                posting.wait(timeout: .now() + TestTimeout.seconds), .success, "round \(kill): posting hangs")
            // It is registered with the server that is there now.
            for one in watched { try one.center.synchronize(timeout: TestTimeout.hang) }
        }
        begin.signal()
        let last = (FaultRounds.kills + 1) * burst - 1
        XCTAssertTrue(watched.allSatisfy { $0.seen.wait { $0.numbers.last == last } })
        for seen in watched.map({ $0.seen.withLock { $0 } }) {
            XCTAssertEqual(seen.interruptions, FaultRounds.kills)
            XCTAssertEqual(Set(seen.connections).count, FaultRounds.kills + 1)
            XCTAssertTrue(zip(seen.numbers, seen.numbers.dropFirst()).allSatisfy { $0 < $1 }, "twice, or out of order")
        }
        tokens.removeAll()
        withExtendedLifetime(watched) {}
    }

    func testTheStaleSocketOfAKilledServerIsReplaced() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        server.end()
        XCTAssertTrue(FileManager.default.fileExists(atPath: temporary.directory.socketPath))
        XCTAssertNil(try DistributedCenter.status(of: temporary.directory))
        let center = try DistributedCenter(directory: temporary.directory, limits: .patient)
        try center.post(name: .numbered)
        guard case .connected(let next) = center.connectionState else { return XCTFail("\(center.connectionState)") }
        XCTAssertNotEqual(next, server.id)
    }

    func testWithoutDescriptorsNewcomersAreRefusedClientsAreServedAndTheServerRecovers() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        let first = try RawPeer(temporary.directory, name: "first", observing: "n")
        try server.limitDescriptors(to: 20)
        var served: [RawPeer] = []
        var refusal: Goodbye?
        while refusal == nil, served.count < 50 {
            let peer = try RawPeer(temporary.directory, name: nil)
            let received = try peer.hello()
            if received {
                served.append(peer)
            } else {
                refusal = try peer.farewell()
            }
        }
        XCTAssertTrue(refusal?.text.contains("ulimit -n") == true, "\(String(describing: refusal))")
        XCTAssertGreaterThan(served.count, 4)
        for _ in 0..<FaultRounds.refusals {
            let peer = try RawPeer(temporary.directory, name: nil)
            XCTAssertTrue(try peer.farewell().text.contains("no descriptor left"))
        }
        for (number, peer) in served.enumerated() {
            try peer.write(RawPeer.post("n", number: number))
            XCTAssertEqual(try first.delivered().number, number)
        }
        let center = try DistributedCenter(directory: temporary.directory, limits: ClientLimits())
        do throws(DistributedError) {
            try center.post(name: .numbered)
            XCTFail("it was served")
        } catch {
            XCTAssertEqual(error.code, .serverRefused)
            XCTAssertTrue(error.problem.contains("no descriptor left"), error.problem)
        }
        // One goes, and there is room for one.
        served.removeLast()
        XCTAssertTrue(
            eventually {
                do throws(DistributedError) { try center.post(name: .numbered) } catch { return false }
                return true
            })
        XCTAssertFalse(server.isGone)
    }

    func testConnectionsUpToTheLimitAreServedAndTheOthersAreRefusedWithTheReason() throws {
        try ObservedProcess(getpid()).limitDescriptors(to: 4000)
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        try server.limitDescriptors(to: 2000)
        var served: [RawPeer] = []
        var refused = 0
        for _ in 0..<2000 {
            let peer = try RawPeer(temporary.directory, name: nil)
            if try peer.hello() {
                served.append(peer)
            } else {
                XCTAssertTrue(try peer.farewell().text.contains("1024 processes are connected"))
                refused += 1
            }
        }
        XCTAssertEqual(served.count, 1024)
        XCTAssertEqual(refused, 976)
        for peer in served { try peer.register(1, name: "all") }
        for peer in served { try peer.synchronize() }
        try served[0].write(RawPeer.post("all", number: 5))
        for peer in served { XCTAssertEqual(try peer.delivered().number, 5) }
        // Processes that disconnect make room.
        served.removeFirst(1000)
        XCTAssertTrue(try eventually { try (try RawPeer(temporary.directory, name: nil)).hello() })
        XCTAssertLessThan(server.residentBytes, 100 << 20)
    }

    func testPostingToAStoppedServerTimesOutAndSucceedsWhenTheServerContinues() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        var limits = ClientLimits()
        limits.postTimeout = .milliseconds(50)
        let center = try DistributedCenter(directory: temporary.directory, limits: limits)
        // Connected without the limit of a post.
        try center.synchronize(timeout: TestTimeout.hang)
        let observer = try RawPeer(temporary.directory, name: "observer", observing: "n")
        kill(server.id, SIGSTOP)
        defer { kill(server.id, SIGCONT) }
        XCTAssertTrue(eventually { server.isStopped })
        var posted = 0
        let large: [String: PropertyListValue] = ["filler": .string(String(repeating: "x", count: 10_000))]
        var error: DistributedError?
        while error == nil, posted < 10_000 {
            do throws(DistributedError) {
                try center.post(name: .numbered, userInfo: large)
                posted += 1
            } catch let refused { error = refused }
        }
        XCTAssertEqual(error?.code, .notPosted, "\(posted): \(String(describing: error))")
        XCTAssertEqual(error?.name, "n")
        XCTAssertEqual(error?.timeout, .milliseconds(50))
        XCTAssertEqual(error?.problem.contains("does not read"), true)
        XCTAssertThrowsError(try center.synchronize(timeout: .milliseconds(50)))
        XCTAssertThrowsError(try DistributedCenter.status(of: temporary.directory, timeout: .milliseconds(50)))
        kill(server.id, SIGCONT)
        // All that was posted arrives, and nothing else.
        for _ in 0..<posted { _ = try observer.delivered() }
        XCTAssertEqual(try observer.synchronize(), [])
        XCTAssertTrue(
            eventually {
                do throws(DistributedError) { try center.post(name: .numbered) } catch { return false }
                return true
            })
        XCTAssertEqual(try observer.delivered().registrations, [1])
    }
}

extension RawPeer {
    /// - Returns: whether it is welcome; if not, it says why next.
    fileprivate func hello() throws -> Bool {
        var hello = FrameWriter()
        hello.hello(suspended: false, name: "peer")
        // One that is refused already cannot write.
        try? write(hello.bytes)
        return try peek() == .welcome
    }
}
