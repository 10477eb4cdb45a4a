import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import DistributedTesting
@testable import NotificationServer

final class ServedSocketTests: XCTestCase {
    private var temporary: TemporaryPlace!
    var place: ServerPlace { temporary.place }
    var isThere: Bool { access(place.socketPath, F_OK) == 0 }
    let limit = TestTimeout.hang

    override func setUpWithError() throws {
        temporary = try TemporaryPlace()
    }

    override func tearDown() {
        temporary = nil
    }

    func testAServerThatStopsRemovesItsSocket() throws {
        let served = try ServedSocket.open(at: place, timeout: limit)
        XCTAssertTrue(isThere)
        XCTAssertTrue(served.remove(unlessClientWaits: false, timeout: limit))
        XCTAssertFalse(isThere)
    }

    func testTheSocketIsForTheUserOnly() throws {
        _ = try ServedSocket.open(at: place, timeout: limit)
        let attributes = try FileManager.default.attributesOfItem(atPath: place.socketPath)
        XCTAssertEqual((attributes[.posixPermissions] as? NSNumber)?.intValue, 0o600)
    }

    func testASecondServerIsRefused() throws {
        let served = try ServedSocket.open(at: place, timeout: limit)
        assertThrows(
            DistributedError.serverNotStarted(
                path: place.socketPath,
                problem: "another server uses it. See which with: notify-demo status --directory \(place.directory)")
        ) { try ServedSocket.open(at: place, timeout: limit) }
        withExtendedLifetime(served) {}
    }

    func testAClientThatHasJustConnectedKeepsAnIdleServer() throws {
        let served = try ServedSocket.open(at: place, timeout: limit)
        let client = try ServerStart.connectIfServed(place, timeout: limit)
        XCTAssertNotNil(client)
        XCTAssertFalse(served.remove(unlessClientWaits: true, timeout: limit))
        XCTAssertTrue(isThere)
        XCTAssertNotNil(try ServerStart.connectIfServed(place, timeout: limit))
        while served.listener.accept() != nil {}
        XCTAssertTrue(served.remove(unlessClientWaits: true, timeout: limit))
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: place.directory), ["lock"])
    }

    func testAnotherServersSocketStays() throws {
        let first = try ServedSocket.open(at: place, timeout: limit)
        XCTAssertEqual(unlink(place.socketPath), 0)
        let second = try ServedSocket.open(at: place, timeout: limit)
        XCTAssertTrue(first.remove(unlessClientWaits: false, timeout: limit))
        XCTAssertTrue(isThere)
        XCTAssertTrue(second.remove(unlessClientWaits: false, timeout: limit))
        XCTAssertFalse(isThere)
    }

    func testAServerThatStopsWhileItsDirectoryIsRemovedMakesNothingThere() throws {
        for isSocketGone in [true, false] {
            let served = try ServedSocket.open(at: place, timeout: limit)
            XCTAssertEqual(unlink(place.lockPath), 0)
            if isSocketGone { XCTAssertEqual(unlink(place.socketPath), 0) }
            XCTAssertTrue(served.remove(unlessClientWaits: false, timeout: limit))
            XCTAssertEqual(
                try FileManager.default.contentsOfDirectory(atPath: place.directory), (isSocketGone ? [] : ["socket"]))
        }
    }

    func testAServerWhoseDirectoryIsGoneMayEnd() throws {
        let served = try ServedSocket.open(at: place, timeout: limit)
        try FileManager.default.removeItem(atPath: place.directory)
        XCTAssertTrue(served.remove(unlessClientWaits: true, timeout: limit))
    }
}
