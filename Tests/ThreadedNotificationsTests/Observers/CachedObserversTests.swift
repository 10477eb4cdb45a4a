import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted")

/// Posts with cached observers reach the same observers as posts without a cache.
final class CachedObserversTests: XCTestCase {
    private let timeout = TestTimeout.hang

    /// Posts on a worker.
    private func post(
        _ name: Notification.Name, on worker: RunLoopThread, to center: ThreadedNotificationCenter
    ) throws -> DeliveryCounters {
        let report = Locked(DeliveryCounters())
        try worker.performAndWait(timeout: timeout) {
            let new = center.post(name: name)
            report.withLock { $0 = new }
        }
        return report.withLock { $0 }
    }

    func testAPostFindsObserversThatAnyThreadHasAddedAndNoneThatWereRemoved() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        var tokens: [ObserverToken] = []
        func check(_ expected: Int, line: UInt = #line) throws {
            for _ in 0..<3 {
                XCTAssertEqual(center.post(name: posted), DeliveryCounters(delivered: expected), line: line)
                XCTAssertEqual(
                    try post(posted, on: worker, to: center), DeliveryCounters(delivered: expected), line: line)
            }
        }
        for round in 1...5 {
            try check(round - 1)
            tokens.append(center.addObserver(forName: posted, on: .postingThread) { _ in })
            try check(round)
            try worker.performAndWait(timeout: timeout) {
                // Added and removed on the other thread.
                let token = center.addObserver(forName: posted, on: .postingThread) { _ in }
                XCTAssertEqual(center.post(name: posted).delivered, round + 1)
                token.cancel()
            }
            try check(round)
        }
        tokens.remove(at: 2).cancel()
        try check(4)
        try worker.performAndWait(timeout: timeout) { [removed = tokens.removeFirst()] in removed.cancel() }
        try check(3)
        let ofAnyName = center.addObserver(forName: nil, on: .postingThread) { _ in }
        try check(4)
        ofAnyName.cancel()
        try check(3)
        for token in tokens { token.cancel() }
        try check(0)
        try worker.stopAndWait()
    }

    func testNamesWithEqualTextAreEqualWhateverTheirStringsStorage() {
        for text in ["name", "", "fifteen bytes!!", "a text that does not fit in two words", "na\u{EF}ve"] {
            let center = ThreadedNotificationCenter()
            var large = ""
            large.reserveCapacity(200)
            large += text
            var other = ""
            other.reserveCapacity(1000)
            for character in text { other.append(character) }
            let decomposed = text.decomposedStringWithCanonicalMapping
            let names = [text, large, other, decomposed].map { Notification.Name($0) }
            for observed in names {
                let token = center.addObserver(forName: observed, on: .postingThread) { _ in }
                for _ in 0..<2 {
                    for name in names { XCTAssertEqual(center.post(name: name).delivered, 1, text) }
                }
                token.cancel()
                for name in names { XCTAssertEqual(center.post(name: name), DeliveryCounters(), text) }
            }
            for different in [text + "!", "!" + text, String(text.dropLast()) + "?", large + "\0"] {
                let token = center.addObserver(forName: Notification.Name(text), on: .postingThread) { _ in }
                XCTAssertEqual(center.post(name: Notification.Name(different)), DeliveryCounters(), different)
                token.cancel()
            }
        }
    }

    func testCentersDoNotShareCachedObservers() {
        var centers: [ThreadedNotificationCenter] = []
        var tokens: [ObserverToken] = []
        for count in 0..<6 {
            let center = ThreadedNotificationCenter()
            for _ in 0..<count { tokens.append(center.addObserver(forName: posted, on: .postingThread) { _ in }) }
            centers.append(center)
            for _ in 0..<2 {
                for (expected, center) in centers.enumerated() {
                    XCTAssertEqual(center.post(name: posted), DeliveryCounters(delivered: expected))
                }
            }
        }
        tokens = []
        for center in centers { XCTAssertEqual(center.post(name: posted), DeliveryCounters()) }
    }

    func testMoreNamesThanTheCacheHoldsReachTheirObservers() {
        let center = ThreadedNotificationCenter()
        let names = (0..<300).map { Notification.Name("name \($0)") }
        let tokens = names.enumerated().flatMap { index, name in
            (0..<index % 4).map { _ in center.addObserver(forName: name, on: .postingThread) { _ in } }
        }
        var random = SeededGenerator(seed: 6)
        for _ in 0..<3000 {
            let index = Int.random(in: names.indices, using: &random)
            XCTAssertEqual(center.post(name: names[index]), DeliveryCounters(delivered: index % 4))
        }
        XCTAssertEqual(tokens.count, 450)
    }

    func testMoreObserversThanTheCacheHoldsAllGetTheNotification() {
        let center = ThreadedNotificationCenter()
        var tokens: [ObserverToken] = []
        for count in 1...70 {
            tokens.append(center.addObserver(forName: posted, on: .postingThread) { _ in })
            for _ in 0..<2 { XCTAssertEqual(center.post(name: posted).delivered, count) }
        }
    }

    func testNestedPostsReachAllTheirObservers() {
        let center = ThreadedNotificationCenter()
        let log = Locked<[Int]>([])
        let names = (0..<100).map { Notification.Name("name \($0)") }
        // The first observer of each name posts the next name twice. The first post replaces an unused cache entry, the
        // second one finds it.
        let tokens = names.indices.flatMap { index in
            [
                center.addObserver(forName: names[index], on: .postingThread) { notification in
                    guard notification.object == nil, index + 1 < names.count else { return }
                    center.post(name: names[index + 1], object: "first")
                    center.post(name: names[index + 1])
                },
                center.addObserver(forName: names[index], on: .postingThread) { notification in
                    if notification.object == nil { log.withLock { $0.append(index) } }
                },
            ]
        }
        for _ in 0..<3 {
            XCTAssertEqual(center.post(name: names[0], object: "first"), DeliveryCounters(delivered: 2))
            XCTAssertEqual(center.post(name: names[0]), DeliveryCounters(delivered: 2))
            XCTAssertEqual(log.withLock { $0 }, names.indices.reversed())
            log.withLock { $0 = [] }
        }
        XCTAssertEqual(tokens.map(\.counters.delivered), Array(repeating: 6, count: 200))
    }

    func testAPostContinuesAfterAHandlerRemovedItsOtherObservers() {
        let center = ThreadedNotificationCenter()
        let others = Locked<[ObserverToken]>([])
        let isArmed = Atomic<Bool>.Box(false)
        let first = center.addObserver(forName: posted, on: .postingThread) { _ in
            guard isArmed.value.load(ordering: .relaxed) else { return }
            let removed = others.withLock { others in
                defer { others = [] }
                return others
            }
            for token in removed { token.cancel() }
            for number in 0..<100 { center.post(name: Notification.Name("\(number)")) }
        }
        for _ in 0..<5 {
            let new = (0..<20).map { _ in center.addObserver(forName: posted, on: .postingThread) { _ in } }
            others.withLock { $0 = new }
            for _ in 0..<2 { XCTAssertEqual(center.post(name: posted), DeliveryCounters(delivered: 21)) }
            isArmed.value.store(true, ordering: .relaxed)
            XCTAssertEqual(center.post(name: posted), DeliveryCounters(delivered: 1, cancelled: 20))
            isArmed.value.store(false, ordering: .relaxed)
            XCTAssertEqual(center.post(name: posted), DeliveryCounters(delivered: 1))
            XCTAssertEqual(new.map(\.counters.delivered), Array(repeating: 2, count: 20))
        }
        first.cancel()
    }

    func testAnObserverOfAnObjectThatIsAddedLaterGetsThatObjectsNotificationsOnly() {
        let center = ThreadedNotificationCenter()
        final class Sender {}
        let (sender, otherSender) = (Sender(), Sender())
        func check(_ expected: (sender: Int, otherSender: Int, none: Int), line: UInt = #line) {
            for _ in 0..<2 {
                XCTAssertEqual(center.post(name: posted, object: sender).delivered, expected.sender, line: line)
                XCTAssertEqual(
                    center.post(name: posted, object: otherSender).delivered, expected.otherSender, line: line)
                XCTAssertEqual(center.post(name: posted).delivered, expected.none, line: line)
            }
        }
        let ofAnyObject = center.addObserver(forName: posted, on: .postingThread) { _ in }
        check((1, 1, 1))
        let ofSender = center.addObserver(forName: posted, object: sender, on: .postingThread) { _ in }
        check((2, 1, 1))
        ofAnyObject.cancel()
        check((1, 0, 0))
        ofSender.cancel()
        check((0, 0, 0))
        let ofAnyName = center.addObserver(forName: nil, object: otherSender, on: .postingThread) { _ in }
        check((0, 1, 0))
        ofAnyName.cancel()
        let ofAnotherName = center.addObserver(forName: Notification.Name("x"), object: sender, on: .postingThread) {
            _ in
        }
        check((0, 0, 0))
        ofAnotherName.cancel()
    }

    func testARemovedObserversHandlerIsReleasedAtOnceAlthoughAnotherThreadCachesTheObserver() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let released = Atomic<Bool>.Box(false)
        let token: ObserverToken
        do {
            let held = ReleaseRecorder { released.value.store(true, ordering: .relaxed) }
            token = center.addObserver(forName: posted, on: .postingThread) { _ in withExtendedLifetime(held) {} }
        }
        for _ in 0..<2 { XCTAssertEqual(try post(posted, on: worker, to: center).delivered, 1) }
        let resume = try worker.keptBusy()
        XCTAssertFalse(released.value.load(ordering: .relaxed))
        token.cancel()
        XCTAssertTrue(released.value.load(ordering: .relaxed))
        resume.signal()
        try worker.stopAndWait()
    }

    func testAHandlerMayEndItsThreadDuringAPostWithCachedObservers() throws {
        @Sendable func endThread() { Thread.exit() }
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let called = Atomic<Int>.Box(0)
        let token = center.addObserver(forName: posted, on: .postingThread) { _ in
            if called.value.add(1, ordering: .relaxed).newValue == 3 { endThread() }
        }
        for _ in 0..<2 { XCTAssertEqual(try post(posted, on: worker, to: center).delivered, 1) }
        try worker.perform { center.post(name: posted) }
        try worker.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(token.counters, .init(delivered: 3))
        try token.cancelAndWait(timeout: .zero)
        XCTAssertEqual(center.post(name: posted), DeliveryCounters())
    }

    func testTheEndOfAThreadReleasesItsCachedObservers() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        weak var mailbox: ThreadMailbox?
        do {
            let target = RunLoopThread(name: "never started")
            // An observer retains the mailbox.
            mailbox = target.mailbox
            let token = center.addObserver(forName: posted, on: target) { _ in }
            for _ in 0..<2 { XCTAssertEqual(try post(posted, on: worker, to: center).waiting, 1) }
            target.stop()
            token.cancel()
            XCTAssertEqual(token.counters, .init(targetGone: 2))
        }
        try worker.stopAndWait()
        XCTAssertNil(mailbox)
    }
}
