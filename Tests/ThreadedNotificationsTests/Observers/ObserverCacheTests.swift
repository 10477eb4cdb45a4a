import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class ObserverCacheTests: XCTestCase {
    /// The cache's number of entries.
    private static let capacity = 16

    private static func observer(isRemovedWithToken: Bool = true) -> Observer {
        Observer(
            name: nil, object: .none, mailbox: nil, options: ObserverOptions(),
            handler: ObserverHandler(.notification { _ in }),
            isRemovedWithToken: isRemovedWithToken, location: SourceLocation("test", 0))
    }

    /// Finds the observers of a name as a post does.
    /// - Returns: nil if they must be looked up.
    private static func find(
        _ name: Notification.Name, _ version: UInt64, in cache: ObserverCache
    ) -> [ObserverID]? {
        guard let found = cache.find(name, version: version) else { return nil }
        defer { found.giveBack() }
        return ids(found.observers)
    }

    private static func ids(_ found: ObserverSpan) -> [ObserverID] {
        var ids: [ObserverID] = []
        found.each { ids.append($0.id) }
        return ids
    }

    func testKeptObserversAreFoundInTheirOrderWithoutGapsForTheirNameAndVersionOnly() {
        let cache = ObserverCache()
        let (one, other) = (Self.observer(), Self.observer())
        let name = Notification.Name("name")
        XCTAssertNil(Self.find(name, 1, in: cache))
        cache.keep([nil, other, nil, one], of: name, version: 1)
        XCTAssertEqual(Self.find(name, 1, in: cache), [other.id, one.id])
        XCTAssertNil(Self.find(name, 2, in: cache))
        XCTAssertNil(Self.find(Notification.Name("named"), 1, in: cache))
        cache.keep([], of: name, version: 2)
        XCTAssertEqual(Self.find(name, 2, in: cache), [])
    }

    func testNamesWithSimilarStringsAreNeverConfused() {
        for storage in 0..<2 {
            // The two words of a small string are its text; those of a large one are a count and an address.
            let texts =
                storage == 0
                ? ["", "a", "b", "ab", "12345678", "12345678a", "12345678b", "a2345678b", "123456789012345", "é", "ê"]
                : (0..<11).map { "a text that does not fit in two words, number \($0 % 10)" + ($0 == 10 ? "!" : "") }
            let names = texts.map { Notification.Name($0) }
            let cache = ObserverCache()
            let observers = names.map { _ in Self.observer() }
            for round in 0..<3 {
                for (name, observer) in zip(names, observers) {
                    // Names may share a slot, so an earlier one may be missing, but never has the observers of another.
                    cache.keep([observer], of: name, version: UInt64(round))
                    for (asked, expected) in zip(names, observers) {
                        let found = Self.find(asked, UInt64(round), in: cache)
                        XCTAssertTrue(found == nil || found == [expected.id], "\(asked) after \(name)")
                    }
                    XCTAssertEqual(Self.find(name, UInt64(round), in: cache), [observer.id])
                }
            }
        }
    }

    func testANameOfAStringThatWasExtendedLaterIsAnotherName() {
        let cache = ObserverCache()
        let observer = Self.observer()
        var text = String(repeating: "x", count: 20)
        text.reserveCapacity(100)
        cache.keep([observer], of: Notification.Name(text), version: 1)
        XCTAssertEqual(Self.find(Notification.Name(text), 1, in: cache), [observer.id])
        text.append("y")
        XCTAssertNil(Self.find(Notification.Name(text), 1, in: cache))
        text.removeLast()
        let found = Self.find(Notification.Name(text), 1, in: cache)
        XCTAssertTrue(found == nil || found == [observer.id])
    }

    func testANameIsNotFoundForALaterStringInTheSameMemory() {
        let cache = ObserverCache()
        func name(_ number: Int) -> Notification.Name {
            Notification.Name("a text that does not fit in two words \(1000 + number)")
        }
        var wrong = 0
        for number in 0..<1000 {
            let observer = Self.observer()
            if Self.find(name(number), 1, in: cache) != nil { wrong += 1 }
            cache.keep([observer], of: name(number), version: 1)
        }
        XCTAssertEqual(wrong, 0)
    }

    func testAnEntryThatAPostUsesIsNotReplacedUntilThePostEnds() throws {
        let cache = ObserverCache()
        weak var weakObserver: Observer?
        do {
            let observer = Self.observer()
            weakObserver = observer
            cache.keep([observer], of: Notification.Name("in use"), version: 1)
        }
        let outer = try XCTUnwrap(cache.find(Notification.Name("in use"), version: 1))
        let inner = try XCTUnwrap(cache.find(Notification.Name("in use"), version: 1))
        func keepOthers() {
            for number in 0..<500 {
                cache.keep([Self.observer()], of: Notification.Name("\(number)"), version: 1)
                cache.keep([Self.observer()], of: Notification.Name("in use"), version: UInt64(number + 2))
            }
        }
        keepOthers()
        inner.giveBack()
        keepOthers()
        XCTAssertEqual(Self.ids(outer.observers), [weakObserver?.id])
        outer.giveBack()
        XCTAssertNotNil(weakObserver)
        keepOthers()
        XCTAssertNil(weakObserver)
    }

    func testReleasingAnEntrysObserversMayUseTheCache() {
        let cache = ObserverCache()
        // Safety: only this thread uses it.
        nonisolated(unsafe) let unsafe = cache
        let name = Notification.Name("name")
        var calls: [String] = []
        // Safety: the object that calls it is released on this thread.
        nonisolated(unsafe) let log: (String) -> Void = { calls.append($0) }
        do {
            let held = ReleaseRecorder {
                unsafe.keep([], of: name, version: 3)
                log("\(Self.find(name, 2, in: unsafe) ?? []) \(Self.find(name, 3, in: unsafe) ?? [1])")
            }
            let observer = Observer(
                name: nil, object: .none, mailbox: nil, options: ObserverOptions(),
                handler: ObserverHandler(.notification { _ in withExtendedLifetime(held) {} }),
                isRemovedWithToken: true,
                location: SourceLocation("test", 0))
            cache.keep([observer], of: name, version: 1)
        }
        for version in 2..<200 as Range<UInt64> where calls.isEmpty {
            cache.keep([], of: name, version: version == 3 ? 4 : version)
        }
        XCTAssertEqual(calls, ["[] []"])
    }

    func testTheCacheLimitsItsEntriesAndObserversAndKeepsNoneThatATokenDoesNotRemove() {
        let cache = ObserverCache()
        var kept: [WeakReference<AnyObject>] = []
        func keep(_ count: Int, isRemovedWithToken: Bool = true, of name: String) {
            let observers = (0..<count).map { _ in Self.observer(isRemovedWithToken: isRemovedWithToken) }
            kept += observers.map { WeakReference<AnyObject>($0) }
            cache.keep(observers, of: Notification.Name(name), version: 1)
        }
        func alive() -> Int { kept.count { $0.object != nil } }
        for number in 0..<200 { keep(64, of: "\(number)") }
        XCTAssertTrue(alive() > 0 && alive() <= Self.capacity * 64)
        cache.removeAll()
        XCTAssertEqual(alive(), 0)
        for number in 0..<200 { keep(65, of: "\(number)") }
        for number in 0..<200 { keep(1, isRemovedWithToken: false, of: "\(number)") }
        XCTAssertEqual(alive(), 0)
    }

    func testRemoveAllAndDeinitReleaseEveryObserverAlsoOfEntriesInUse() {
        var cache: ObserverCache? = ObserverCache()
        var kept: [WeakReference<AnyObject>] = []
        for number in 0..<100 {
            let observer = Self.observer()
            kept.append(WeakReference<AnyObject>(observer))
            cache?.keep([observer], of: Notification.Name("\(number)"), version: 1)
            _ = cache?.find(Notification.Name("\(number)"), version: 1)
        }
        XCTAssertTrue(kept.contains { $0.object != nil })
        cache?.removeAll()
        XCTAssertFalse(kept.contains { $0.object != nil })
        do {
            let last = Self.observer()
            cache?.keep([last], of: Notification.Name("last"), version: 1)
            kept = [WeakReference<AnyObject>(last)]
        }
        cache = nil
        XCTAssertNil(kept.first?.object)
    }
}

extension ObserverCache {
    /// For tests that need one center only.
    fileprivate func find(_ name: Notification.Name, version: UInt64) -> Found? {
        find(name, of: 0, version: version)
    }

    fileprivate func keep(_ observers: [Observer?], of name: Notification.Name, version: UInt64) {
        keep(observers, of: name, of: 0, version: version)
    }
}
