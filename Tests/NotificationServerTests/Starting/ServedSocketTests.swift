import Foundation
import Glibc
import SharedTesting
import Testing

@testable import DistributedNotifications
@testable import DistributedTesting
@testable import NotificationServer

struct ServedSocketTests {
    let temporary: TemporaryPlace
    var place: ServerPlace { temporary.place }
    var isThere: Bool { access(place.socketPath, F_OK) == 0 }
    let limit = TestTimeout.hang

    init() throws {
        temporary = try TemporaryPlace()
    }

    @Test func aServerThatStopsRemovesItsSocket() throws {
        let served = try ServedSocket.open(at: place, timeout: limit)
        #expect(isThere)
        #expect(served.remove(unlessClientWaits: false, timeout: limit))
        #expect(!isThere)
    }

    @Test func theSocketIsForTheUserOnly() throws {
        _ = try ServedSocket.open(at: place, timeout: limit)
        let attributes = try FileManager.default.attributesOfItem(atPath: place.socketPath)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test func aSecondServerIsRefused() throws {
        let served = try ServedSocket.open(at: place, timeout: limit)
        #expect(
            throws: DistributedError.serverNotStarted(
                path: place.socketPath,
                problem: "another server uses it. See which with: notify-demo status --directory \(place.directory)")
        ) { try ServedSocket.open(at: place, timeout: limit) }
        withExtendedLifetime(served) {}
    }

    @Test func aClientThatHasJustConnectedKeepsAnIdleServer() throws {
        let served = try ServedSocket.open(at: place, timeout: limit)
        let client = try ServerStart.connectIfServed(place, timeout: limit)
        #expect(client != nil)
        #expect(!served.remove(unlessClientWaits: true, timeout: limit))
        #expect(isThere)
        #expect(try ServerStart.connectIfServed(place, timeout: limit) != nil)
        while served.listener.accept() != nil {}
        #expect(served.remove(unlessClientWaits: true, timeout: limit))
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory) == ["lock"])
    }

    @Test func anotherServersSocketStays() throws {
        let first = try ServedSocket.open(at: place, timeout: limit)
        #expect(unlink(place.socketPath) == 0)
        let second = try ServedSocket.open(at: place, timeout: limit)
        #expect(first.remove(unlessClientWaits: false, timeout: limit))
        #expect(isThere)
        #expect(second.remove(unlessClientWaits: false, timeout: limit))
        #expect(!isThere)
    }

    @Test(arguments: [true, false])
    func aServerThatStopsWhileItsDirectoryIsRemovedMakesNothingThere(isSocketGone: Bool) throws {
        let served = try ServedSocket.open(at: place, timeout: limit)
        #expect(unlink(place.lockPath) == 0)
        if isSocketGone { #expect(unlink(place.socketPath) == 0) }
        #expect(served.remove(unlessClientWaits: false, timeout: limit))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: place.directory) == (isSocketGone ? [] : ["socket"]))
    }

    @Test func aServerWhoseDirectoryIsGoneMayEnd() throws {
        let served = try ServedSocket.open(at: place, timeout: limit)
        try FileManager.default.removeItem(atPath: place.directory)
        #expect(served.remove(unlessClientWaits: true, timeout: limit))
    }
}
