import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

final class ServedSocketTests: XCTestCase {
    private var temporary: TemporaryDirectory!
    var directory: ServerDirectory { temporary.directory }
    var isThere: Bool { access(directory.socketPath, F_OK) == 0 }
    let limit = TestTimeout.hang

    override func setUpWithError() throws {
        temporary = try TemporaryDirectory()
    }

    override func tearDown() {
        temporary = nil
    }

    func testAServerThatStopsRemovesItsSocket() throws {
        let served = try ServedSocket.open(at: directory, timeout: limit)
        XCTAssertTrue(isThere)
        XCTAssertTrue(served.remove(unlessClientWaits: false, timeout: limit))
        XCTAssertFalse(isThere)
    }

    func testTheSocketIsForTheUserOnly() throws {
        _ = try ServedSocket.open(at: directory, timeout: limit)
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.socketPath)
        XCTAssertEqual((attributes[.posixPermissions] as? NSNumber)?.intValue, 0o600)
    }

    func testASecondServerIsRefused() throws {
        let served = try ServedSocket.open(at: directory, timeout: limit)
        assertThrows(
            DistributedError.serverNotStarted(
                path: directory.socketPath,
                problem: "another server uses it. See which with: notify-demo serve --status --directory "
                    + directory.path)
        ) { try ServedSocket.open(at: directory, timeout: limit) }
        withExtendedLifetime(served) {}
    }

    func testAClientThatHasJustConnectedKeepsAnIdleServer() throws {
        let served = try ServedSocket.open(at: directory, timeout: limit)
        let client = try ServerStart.connectIfServed(directory, timeout: limit)
        XCTAssertNotNil(client)
        XCTAssertFalse(served.remove(unlessClientWaits: true, timeout: limit))
        XCTAssertTrue(isThere)
        XCTAssertNotNil(try ServerStart.connectIfServed(directory, timeout: limit))
        while served.listener.accept() != nil {}
        XCTAssertTrue(served.remove(unlessClientWaits: true, timeout: limit))
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: directory.path), ["lock"])
    }

    func testAnotherServersSocketStays() throws {
        let first = try ServedSocket.open(at: directory, timeout: limit)
        XCTAssertEqual(unlink(directory.socketPath), 0)
        let second = try ServedSocket.open(at: directory, timeout: limit)
        XCTAssertTrue(first.remove(unlessClientWaits: false, timeout: limit))
        XCTAssertTrue(isThere)
        XCTAssertTrue(second.remove(unlessClientWaits: false, timeout: limit))
        XCTAssertFalse(isThere)
    }

    func testAServerThatStopsWhileItsDirectoryIsRemovedMakesNothingThere() throws {
        for isSocketGone in [true, false] {
            let served = try ServedSocket.open(at: directory, timeout: limit)
            XCTAssertEqual(unlink(directory.lockPath), 0)
            if isSocketGone { XCTAssertEqual(unlink(directory.socketPath), 0) }
            XCTAssertTrue(served.remove(unlessClientWaits: false, timeout: limit))
            XCTAssertEqual(
                try FileManager.default.contentsOfDirectory(atPath: directory.path), (isSocketGone ? [] : ["socket"]))
        }
    }

    func testAServerWhoseDirectoryIsGoneMayEnd() throws {
        let served = try ServedSocket.open(at: directory, timeout: limit)
        try FileManager.default.removeItem(atPath: directory.path)
        XCTAssertTrue(served.remove(unlessClientWaits: true, timeout: limit))
    }
}
