import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

final class InheritedListenerTests: XCTestCase {
    func testOnlyTheProcessInListenPIDUsesTheDescriptors() {
        XCTAssertEqual(InheritedListener.count(listenPID: "42", listenFDs: "1", process: 42), 1)
        XCTAssertEqual(InheritedListener.count(listenPID: "42", listenFDs: "3", process: 42), 3)
        XCTAssertEqual(InheritedListener.count(listenPID: "41", listenFDs: "1", process: 42), 0)
    }

    func testAnInvalidNumberOfDescriptorsMeansNone() {
        for count in [nil, "", "0", "-1", "one", "1 ", "99999999999999999999", "1000000"] {
            XCTAssertEqual(InheritedListener.count(listenPID: "42", listenFDs: count, process: 42), 0)
        }
    }

    func testAnInvalidProcessMeansNone() {
        for process in [nil, "", "0", "42x", "99999999999999999999"] {
            XCTAssertEqual(InheritedListener.count(listenPID: process, listenFDs: "1", process: 42), 0)
        }
    }

    func testAListenerIsDistinguishedFromOtherDescriptors() throws {
        let temporary = try TemporaryDirectory()
        try temporary.directory.prepare()
        let path = temporary.directory.socketPath
        let socket = try LocalSocket.bound(at: path)
        XCTAssertTrue(try XCTUnwrap(InheritedListener.description(of: socket.descriptor)) == (false, path))
        XCTAssertTrue(socket.listen())
        XCTAssertTrue(try XCTUnwrap(InheritedListener.description(of: socket.descriptor)) == (true, path))
        guard case .connected(let connected) = try LocalSocket.connect(to: path, until: .now + TestTimeout.hang) else {
            XCTFail("not connected")
            return
        }
        XCTAssertTrue(try XCTUnwrap(InheritedListener.description(of: connected.descriptor)) == (false, ""))
        XCTAssertNil(InheritedListener.description(of: 1_000_000))
    }
}
