import Foundation
import Testing

@testable import ThreadedNotifications

@Suite("ObserverCache")
struct ObserverCacheTests {
    /// As many as there are places.
    private static let places = 16

    private static func observer(isRemovedWithToken: Bool = true) -> Observer {
        Observer(
            name: nil, object: .none, mailbox: nil, options: ObserverOptions(),
            handler: ObserverHandler(.notification { _ in }),
            isRemovedWithToken: isRemovedWithToken)
    }

    /// Asks as a post does.
    /// - Returns: nil if nothing is known.
    private static func find(
        _ name: Notification.Name, _ version: UInt64, in lookups: ObserverCache
    ) -> [ObserverID]? {
        guard let place = lookups.find(name, version: version) else { return nil }
        defer { place.giveBack() }
        return ids(place.observers)
    }

    private static func ids(_ found: ObserverSpan) -> [ObserverID] {
        var ids: [ObserverID] = []
        found.each { ids.append($0.id) }
        return ids
    }

    @Test("what was kept is found in its order, without the gaps, and under its name and version only")
    func findsWhatWasKept() {
        let lookups = ObserverCache()
        let (one, other) = (Self.observer(), Self.observer())
        let name = Notification.Name("name")
        #expect(Self.find(name, 1, in: lookups) == nil)
        lookups.keep([nil, other, nil, one], of: name, version: 1)
        #expect(Self.find(name, 1, in: lookups) == [other.id, one.id])
        #expect(Self.find(name, 2, in: lookups) == nil)
        #expect(Self.find(Notification.Name("named"), 1, in: lookups) == nil)
        lookups.keep([], of: name, version: 2)
        #expect(Self.find(name, 2, in: lookups) == [])
    }

    @Test("a name is never taken for another, whatever their strings have in common", arguments: 0..<2)
    func tellsNamesApart(storage: Int) {
        // Small strings are their own words; others are a count and an address.
        let texts =
            storage == 0
            ? ["", "a", "b", "ab", "12345678", "12345678a", "12345678b", "a2345678b", "123456789012345", "é", "ê"]
            : (0..<11).map { "a text that does not fit in two words, number \($0 % 10)" + ($0 == 10 ? "!" : "") }
        let names = texts.map { Notification.Name($0) }
        let lookups = ObserverCache()
        let observers = names.map { _ in Self.observer() }
        for round in 0..<3 {
            for (name, observer) in zip(names, observers) {
                // They may be in each other's places, but never found under each other's names.
                lookups.keep([observer], of: name, version: UInt64(round))
                for (asked, expected) in zip(names, observers) {
                    let found = Self.find(asked, UInt64(round), in: lookups)
                    #expect(found == nil || found == [expected.id], "\(asked) after \(name)")
                }
                #expect(Self.find(name, UInt64(round), in: lookups) == [observer.id])
            }
        }
    }

    @Test("a string that grows after it was a name is another name")
    func grownString() {
        let lookups = ObserverCache()
        let observer = Self.observer()
        var text = String(repeating: "x", count: 20)
        text.reserveCapacity(100)
        lookups.keep([observer], of: Notification.Name(text), version: 1)
        #expect(Self.find(Notification.Name(text), 1, in: lookups) == [observer.id])
        text.append("y")
        #expect(Self.find(Notification.Name(text), 1, in: lookups) == nil)
        text.removeLast()
        let found = Self.find(Notification.Name(text), 1, in: lookups)
        #expect(found == nil || found == [observer.id])
    }

    @Test("a name whose string is gone is not found under a string that has its memory")
    func reusedMemory() {
        let lookups = ObserverCache()
        func name(_ number: Int) -> Notification.Name {
            Notification.Name("a text that does not fit in two words \(1000 + number)")
        }
        var wrong = 0
        for number in 0..<1000 {
            let observer = Self.observer()
            if Self.find(name(number), 1, in: lookups) != nil { wrong += 1 }
            lookups.keep([observer], of: name(number), version: 1)
        }
        #expect(wrong == 0)
    }

    @Test("what a post goes through stays, however many names come after it; then it goes")
    func inUse() throws {
        let lookups = ObserverCache()
        weak var weakly: Observer?
        do {
            let observer = Self.observer()
            weakly = observer
            lookups.keep([observer], of: Notification.Name("in use"), version: 1)
        }
        let outer = try #require(lookups.find(Notification.Name("in use"), version: 1))
        let inner = try #require(lookups.find(Notification.Name("in use"), version: 1))
        func keepOthers() {
            for number in 0..<500 {
                lookups.keep([Self.observer()], of: Notification.Name("\(number)"), version: 1)
                lookups.keep([Self.observer()], of: Notification.Name("in use"), version: UInt64(number + 2))
            }
        }
        keepOthers()
        inner.giveBack()
        keepOthers()
        #expect(Self.ids(outer.observers) == [weakly?.id])
        outer.giveBack()
        #expect(weakly != nil)
        keepOthers()
        #expect(weakly == nil)
    }

    @Test("observers that are let go of may have more looked up in the middle of it")
    func reentrancy() {
        let lookups = ObserverCache()
        // Safety: only this thread uses it.
        nonisolated(unsafe) let unsafe = lookups
        let name = Notification.Name("name")
        var calls: [String] = []
        // Safety: what calls it is released on this thread.
        nonisolated(unsafe) let log: (String) -> Void = { calls.append($0) }
        do {
            let held = ReleaseRecorder {
                unsafe.keep([], of: name, version: 3)
                log("\(Self.find(name, 2, in: unsafe) ?? []) \(Self.find(name, 3, in: unsafe) ?? [1])")
            }
            let observer = Observer(
                name: nil, object: .none, mailbox: nil, options: ObserverOptions(),
                handler: ObserverHandler(.notification { _ in withExtendedLifetime(held) {} }), isRemovedWithToken: true
            )
            lookups.keep([observer], of: name, version: 1)
        }
        for version in 2..<200 as Range<UInt64> where calls.isEmpty {
            lookups.keep([], of: name, version: version == 3 ? 4 : version)
        }
        #expect(calls == ["[] []"])
    }

    @Test("so many are kept at most, and none of those that nobody's token removes")
    func bounds() {
        let lookups = ObserverCache()
        var kept: [WeakReference<AnyObject>] = []
        func keep(_ count: Int, isRemovedWithToken: Bool = true, of name: String) {
            let observers = (0..<count).map { _ in Self.observer(isRemovedWithToken: isRemovedWithToken) }
            kept += observers.map { WeakReference<AnyObject>($0) }
            lookups.keep(observers, of: Notification.Name(name), version: 1)
        }
        func alive() -> Int { kept.count { $0.object != nil } }
        for number in 0..<200 { keep(64, of: "\(number)") }
        #expect(alive() > 0 && alive() <= Self.places * 64)
        lookups.removeAll()
        #expect(alive() == 0)
        for number in 0..<200 { keep(65, of: "\(number)") }
        for number in 0..<200 { keep(1, isRemovedWithToken: false, of: "\(number)") }
        #expect(alive() == 0)
    }

    @Test("with it goes all that it kept, also what a post was in the middle of when its thread ended")
    func end() {
        var lookups: ObserverCache? = ObserverCache()
        var kept: [WeakReference<AnyObject>] = []
        for number in 0..<100 {
            let observer = Self.observer()
            kept.append(WeakReference<AnyObject>(observer))
            lookups?.keep([observer], of: Notification.Name("\(number)"), version: 1)
            _ = lookups?.find(Notification.Name("\(number)"), version: 1)
        }
        #expect(kept.contains { $0.object != nil })
        lookups?.removeAll()
        #expect(!kept.contains { $0.object != nil })
        let last = Self.observer()
        lookups?.keep([last], of: Notification.Name("last"), version: 1)
        kept = [WeakReference<AnyObject>(last)]
        lookups = nil
        #expect(Self.find(Notification.Name("last"), 1, in: ObserverCache()) == nil)
    }
}

extension ObserverCache {
    /// Of the one center that most tests need.
    fileprivate func find(_ name: Notification.Name, version: UInt64) -> Found? {
        find(name, of: 0, version: version)
    }

    fileprivate func keep(_ observers: [Observer?], of name: Notification.Name, version: UInt64) {
        keep(observers, of: name, of: 0, version: version)
    }
}
