import CLinux
import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

/// The set that has a descriptor is found, and a wait ends when a descriptor of it is ready.
final class EpollSetTests: XCTestCase {
    func testADescriptorThatIsInNoSetHasNone() throws {
        let event = try XCTUnwrap(EventDescriptor())
        XCTAssertNil(EpollSet(with: event))
    }

    func testTheSetOfADescriptorIsFoundAmongOthersAndIsReadyWhenTheDescriptorIs() throws {
        let sets = (0..<3).map { _ in epoll_create1(0) }
        defer { for set in sets { close(set) } }
        let events = try (0..<3).map { _ in try XCTUnwrap(EventDescriptor()) }
        for (set, event) in zip(sets, events) {
            XCTAssertEqual(CLinuxWatch(set, EPOLL_CTL_ADD, event.number, EPOLLIN.rawValue, 0), 0)
        }
        for event in events {
            let set = try XCTUnwrap(EpollSet(with: event))
            event.makeReady()
            // A set without a ready descriptor would not end the wait.
            set.wait()
            event.clear()
        }
    }

    func testTheSetIsFoundAmongManyDescriptors() throws {
        let set = epoll_create1(0)
        let others = (0..<700).map { _ in eventfd(0, 0) }
        defer { for number in others + [set] { close(number) } }
        try XCTSkipIf(others.contains(-1), "the limit of open descriptors is too low")
        let event = try XCTUnwrap(EventDescriptor())
        XCTAssertEqual(CLinuxWatch(set, EPOLL_CTL_ADD, event.number, EPOLLIN.rawValue, 0), 0)
        let found = try XCTUnwrap(EpollSet(with: event))
        event.makeReady()
        found.wait()
    }

    func testASetThatOnlyListsTheNumberIsNotTaken() throws {
        let stale = try StaleNumbers(1)
        stale.makeReady()
        let event = try XCTUnwrap(EventDescriptor())
        try XCTSkipUnless(stale.numbers.contains(event.number), "another thread took the number")
        XCTAssertNil(EpollSet(with: event))
        let set = epoll_create1(0)
        defer { close(set) }
        XCTAssertEqual(CLinuxWatch(set, EPOLL_CTL_ADD, event.number, EPOLLIN.rawValue, 0), 0)
        XCTAssertEqual(EpollSet(with: event)?.descriptor, set)
        XCTAssertEqual(stale.listed, stale.numbers, "a set of others was changed")
    }

    func testARunLoopThreadSleepsInItsOwnSetBesideOneThatListsTheNumbersOfItsDescriptors() throws {
        let stale = try StaleNumbers(16)
        stale.makeReady()
        let worker = RunLoopThread(name: "sleeping")
        try worker.start()
        // A thread that slept in the other set would not be woken from now on.
        stale.makeUnready()
        for _ in 1...3 { try worker.performAndWait(timeout: TestTimeout.hang) {} }
        try worker.stopAndWait()
    }
}
