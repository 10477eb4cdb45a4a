import CLinux
import Glibc
import XCTest

@testable import ThreadedNotifications

/// The set that has a descriptor is found, and a wait ends when a descriptor of it is ready.
final class EpollSetTests: XCTestCase {
    func testADescriptorThatIsInNoSetHasNone() throws {
        let event = try XCTUnwrap(EventDescriptor())
        XCTAssertNil(EpollSet(with: event.number))
    }

    func testTheSetOfADescriptorIsFoundAmongOthersAndIsReadyWhenTheDescriptorIs() throws {
        let sets = (0..<3).map { _ in epoll_create1(0) }
        defer { for set in sets { close(set) } }
        let events = try (0..<3).map { _ in try XCTUnwrap(EventDescriptor()) }
        for (set, event) in zip(sets, events) {
            XCTAssertEqual(CLinuxWatch(set, EPOLL_CTL_ADD, event.number, EPOLLIN.rawValue, 0), 0)
        }
        for event in events {
            event.makeReady()
            // A set without a ready descriptor would not end the wait.
            try XCTUnwrap(EpollSet(with: event.number)).wait()
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
        event.makeReady()
        try XCTUnwrap(EpollSet(with: event.number)).wait()
    }
}
