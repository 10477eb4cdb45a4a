import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The numbers of posts: in the order of sending, and neither a loss nor a duplicate is found where there is none.
final class SequenceTests: XCTestCase {
    private let temporary: TemporaryDirectory! = try? TemporaryDirectory()

    private struct Seen: Equatable {
        var received: [DistributedNotification.Origin?] = []
        var gaps: [String] = []
        /// In all gaps.
        var lost: [NotificationGap.Cause: Int] = [:]
    }

    /// A center that observes `n`.
    private func observe(
        _ behavior: SuspensionBehavior = .hold, _ each: @escaping @Sendable () -> Void = {}
    ) throws -> (center: DistributedCenter, seen: Awaited<Seen>, tokens: [ObserverToken]) {
        let center = try DistributedCenter(directory: temporary.directory, postTimeout: TestTimeout.hang)
        let seen = Awaited(Seen())
        let events = center.addConnectionObserver(on: TargetThread.postingThread) { event in
            guard case .gap(let gap) = event else { return }
            seen.withLock {
                $0.gaps.append("\(gap.cause) \(gap.count)")
                $0.lost[gap.cause, default: 0] += gap.count
            }
        }
        let observer = try center.addObserver(
            forName: .numbered, suspensionBehavior: behavior, on: TargetThread.postingThread
        ) { notification in
            seen.withLock { $0.received.append(notification.origin) }
            each()
        }
        try center.synchronize(timeout: TestTimeout.hang)
        return (center, seen, [events, observer])
    }

    func testNumbersAreInTheOrderOfSendingForTheBytesOfEachName() throws {
        let server = try ServerInThisProcess(temporary)
        let observer = try RawPeer(temporary.directory)
        try observer.register(1, name: nil)
        try observer.synchronize()
        let center = try DistributedCenter(directory: temporary.directory, postTimeout: TestTimeout.hang)
        // The first two are equal as strings, and not as bytes.
        let names = ["\u{E9}", "e\u{301}", "n"].map { Notification.Name($0) }
        let (threads, each) = (4, 300)
        for thread in 0..<threads {
            Thread.detachNewThread {
                for post in 0..<each { try? center.post(name: names[(post + thread) % names.count]) }
            }
        }
        var last: [[UInt8]: PostSequence] = [:]
        for _ in 0..<threads * each {
            guard case .frame(.notification, let payload) = try observer.next() else { return XCTFail("no post") }
            try payload.withUnsafeBytes { bytes in
                let post = try PostedPayload(UnsafeRawBufferPointer(rebasing: bytes[10...]))
                let sequence = try XCTUnwrap(post.sequence)
                let expected = PostSequence(series: sequence.series, number: (last[Array(post.name)]?.number ?? 0) + 1)
                XCTAssertEqual(sequence, expected)
                last[Array(post.name)] = sequence
            }
        }
        XCTAssertEqual(last.count, 3)
        XCTAssertEqual(Set(last.values.map(\.series)).count, 1)
        withExtendedLifetime(server) {}
    }

    func testAPostThatIsSentTwiceIsDeliveredOnceAndASkippedNumberIsMissing() throws {
        let server = try ServerInThisProcess(temporary)
        let (center, seen, tokens) = try observe()
        let peer = try RawPeer(temporary.directory)
        func post(_ numbers: [UInt64], series: UInt64 = 7) throws {
            for number in numbers {
                try peer.write(RawPeer.post("n", sequence: PostSequence(series: series, number: number)))
            }
            try peer.synchronize()
            try center.synchronize(timeout: TestTimeout.hang)
        }
        try post([4, 5, 5, 4, 6, 9, 8, 9, 10])
        XCTAssertEqual(seen.withLock { [$0.received.count] }, [5])
        XCTAssertEqual(seen.withLock(\.gaps), ["missing 2"])
        // Another series has its own numbers. After a removal, numbers may be skipped, and duplicates are still found.
        try post([3], series: 8)
        try center.addObserver(forName: nil, on: TargetThread.postingThread) { _ in }.cancel()
        try post([10, 9, 15, 15])
        try post([3, 4, 6], series: 8)
        XCTAssertEqual(seen.withLock(\.received).count, 9)
        XCTAssertEqual(seen.withLock(\.gaps), ["missing 2", "missing 1"])
        // The largest one ends a series.
        try post([.max, .max, 1])
        XCTAssertEqual(seen.withLock(\.lost), [.missing: 3 + Int(UInt32.max)])
        withExtendedLifetime((server, tokens)) {}
    }

    /// The steps: `p` posts, `P` posts more than may be held, `s` suspends, `r` resumes, `-` removes the observer, `+`
    /// adds one, and `k` kills the server.
    func testWhatIsSkippedAsAnObserverAsksOrIsReportedOtherwiseIsNotMissing() throws {
        for (behavior, steps, received, gaps) in [
            (.coalesce, "psppprp", 3, []), (.drop, "pspppp-+rp", 2, []), (.drop, "psppprp", 2, []),
            (.hold, "pspppprp", 5, ["held 1"]), (.hold, "pspPprpp", 5, ["held 1"]), (.hold, "pspPrp", 3, ["held 1"]),
            (.hold, "p-pp+pp", 3, []), (.coalesce, "psppkrp", 2, []), (.hold, "pspkrp", 2, ["missing 1"]),
        ] as [(SuspensionBehavior, String, Int, [String])] {
            let poster = try DistributedCenter(directory: temporary.directory, postTimeout: TestTimeout.hang)
            // One that is killed is another process, which the centers start.
            let server =
                try steps.contains("k")
                ? nil
                : ServerInThisProcess(temporary) {
                    ($0.heldEntriesPerClient, $0.heldBytesPerClient) = (3, 2000)
                }
            let observed = try observe(behavior)
            let (center, seen) = (observed.center, observed.seen)
            var tokens = observed.tokens
            for step in steps {
                switch step {
                case "p": try poster.post(name: .numbered)
                case "P": try poster.post(name: .numbered, userInfo: ["": .data(Data(count: 3000))])
                case "s": center.suspend()
                case "r": center.resume()
                case "-": center.removeObserver(tokens.removeLast())
                case "k":
                    temporary.end(try XCTUnwrap(center.serverProcess))
                default:
                    tokens.append(
                        try center.addObserver(
                            forName: .numbered, suspensionBehavior: behavior, on: TargetThread.postingThread
                        ) { _ in seen.withLock { $0.received.append(nil) } })
                }
                for center in [poster, center] { try center.synchronize(timeout: TestTimeout.hang) }
            }
            XCTAssertEqual(seen.withLock(\.received).count, received, "\(behavior) \(steps)")
            XCTAssertEqual(seen.withLock(\.gaps), gaps, "\(behavior) \(steps)")
            for center in [poster, center] { center.close() }
            withExtendedLifetime(server) {}
        }
    }

    func testSlowGapsAndMissingNumbersAddUp() throws {
        let server = try ServerInThisProcess(temporary) { ($0.softQueueBytes, $0.hardQueueBytes) = (1000, 2000) }
        let (gate, isBlocked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // While its handler waits, the center reads nothing.
        let (center, seen, tokens) = try observe {
            isBlocked.signal()
            gate.wait()
        }
        let peer = try RawPeer(temporary.directory)
        let posts = 20_000
        // Some are lost before they are sent: while the observer reads, while it does not, and after its gap.
        let lost = Array(3..<5) + Array(posts / 2..<posts / 2 + 10) + [posts - 1]
        func post(_ numbers: Range<Int>) throws {
            for number in numbers where !lost.contains(number) {
                try peer.write(RawPeer.post("n", sequence: PostSequence(series: 7, number: UInt64(number))))
            }
            try peer.synchronize()
        }
        try post(1..<posts - 2)
        XCTAssertEqual(isBlocked.wait(timeout: .now() + TestTimeout.seconds), .success)
        for _ in 0..<posts { gate.signal() }
        XCTAssertTrue(seen.wait { $0.received.count + $0.lost[.slow, default: 0] == posts - 3 - 12 })
        try post(posts - 2..<posts + 1)
        XCTAssertTrue(seen.wait { $0.received.count + $0.lost[.slow, default: 0] == posts - lost.count })
        XCTAssertEqual(seen.withLock { $0.lost[.missing] }, lost.count)
        XCTAssertGreaterThan(seen.withLock { $0.lost[.slow, default: 0] }, posts / 2)
        withExtendedLifetime((server, center, tokens)) {}
    }

    func testTheOriginReachesTheObserverAndOnesThatAreNotValidAreRefused() throws {
        let server = try ServerInThisProcess(temporary)
        let (center, seen, tokens) = try observe()
        let machine = [UInt8](repeating: 97, count: Wire.originLimit)
        for (bytes, problem) in [([0], "NUL"), ([0xFF], "not UTF-8"), (machine + [97], "at most 255")] {
            for origin in [(bytes, [98]), ([98], bytes)] as [([UInt8], [UInt8])] {
                let peer = try RawPeer(temporary.directory)
                try peer.write(RawPeer.post("n", origin: origin))
                XCTAssertEqual(try peer.farewell().contains(problem), true)
            }
        }
        let peer = try RawPeer(temporary.directory)
        try peer.write(RawPeer.post("n", origin: (machine, Array("é".utf8))) + RawPeer.post("n"))
        try peer.synchronize()
        try center.synchronize(timeout: TestTimeout.hang)
        let origin = DistributedNotification.Origin(machine: String(decoding: machine, as: UTF8.self), user: "é")
        XCTAssertEqual(seen.withLock(\.received), [origin, nil])
        withExtendedLifetime((server, tokens)) {}
    }
}
