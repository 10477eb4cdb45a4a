internal import SharedTesting
internal import XCTest

@testable internal import DistributedNotifications
@testable internal import NotificationBridge

final class BridgedPostTests: XCTestCase {
    func testAMessageHasAllOfThePostWithItsOriginAndWithoutTheNumberInARecording() throws {
        for number in [nil, 0] as [UInt64?] { XCTAssertNil(try bridged(payload(number: number)), "it has none") }
        let userInfo = try encoded(["path": "/tmp/é", "empty": ""])
        for (object, record, info) in [(nil, nil, nil), ("Küche", 5, userInfo), ("", nil, userInfo), ("o", 9, nil)]
            as [(String?, UInt64?, [UInt8]?)]
        {
            let message = try XCTUnwrap(
                bridged(payload("Sävéd", object: object, number: 42, record: record, userInfo: info), from: 0xABCD))
            try message.withUnsafeBytes { bytes in
                let post = try BridgedPost(bytes)
                XCTAssertEqual(post.bridge, 0xABCD)
                XCTAssertEqual(String(utf8: post.payload.name), "Sävéd")
                XCTAssertEqual(post.payload.object.map { String(decoding: $0, as: UTF8.self) }, object)
                XCTAssertEqual(post.payload.sequence, PostSequence(series: 7, number: 42))
                XCTAssertEqual(post.payload.origin.map { DistributedNotification.Origin($0) }, kitchen)
                XCTAssertEqual(post.payload.record, 0)
                XCTAssertEqual(post.payload.hasUserInfo ? Array(post.payload.userInfo) : nil, info)
                XCTAssertEqual(post.bytes.count, bytes.count - 9)
            }
        }
    }

    func testWhatAnotherMachineMustNotSendIsInvalidForItsReason() throws {
        let good = try XCTUnwrap(bridged(payload("Saved", object: "o", userInfo: encoded(["a": "b"]))))
        func changed(_ index: Int, _ byte: UInt8) -> [UInt8] { good[..<index] + [byte] + good[(index + 1)...] }
        let large = payload(userInfo: [UInt8](repeating: 0, count: Wire.userInfoLimit + 1))
        let cases: [(String, [UInt8], String)] = [
            ("nothing", [], "ends before"),
            ("another version", changed(0, 4), "version"),
            ("an unknown flag", changed(9, good[9] | 64), "flag"),
            ("no origin", Array(good[..<9]) + payload(), "ends before"),
            ("a number in a recording", Array(good[..<9]) + payload(record: 1, origin: kitchen), "flag"),
            ("no number", changed(9, good[9] & ~PostedPayload.hasSequence), ""),
            ("NUL in the name", changed(12, 0), "NUL"),
            ("no UTF-8 in the name", changed(12, 0xFF), "UTF-8"),
            ("NUL in the object", changed(19, 0), "NUL"),
            ("no name", try XCTUnwrap(bridged(payload(""))), "empty name"),
            ("a long name", try XCTUnwrap(bridged(payload("Saved"))).replacing([5, 0], with: [0, 9]), "at most"),
            ("too large a userInfo", Array(good[..<9]) + large, "at most"),
            ("a cut userInfo", Array(good.dropLast()), "userInfo"),
            ("a longer userInfo", good + [0], "userInfo"),
            ("a userInfo that is none", Array(good.dropLast(3)) + [0xFF, 0xFF, 0xFF], "userInfo"),
            ("longer than a frame", good + [UInt8](repeating: 0, count: Wire.frameLimit), "bytes"),
        ]
        for (what, message, reason) in cases {
            let error = message.withUnsafeBytes { bytes -> WireError? in
                do throws(WireError) { _ = try BridgedPost(bytes) } catch { return error }
                return nil
            }
            XCTAssertEqual(error.map { "\($0)".contains(reason) || reason.isEmpty }, true, "\(what): \(error as Any)")
        }
    }

    func testNoChangedMessageStopsTheBridgeOrPassesTheChecksWithWhatTheyForbid() throws {
        var random = SeededGenerator(seed: 36)
        let good = try [
            bridged(payload("Saved", object: "o", userInfo: encoded(["path": "/tmp/a", "kind": "b"]))),
            bridged(payload("Saved", number: .max)),
        ].compactMap { $0 }
        var valid = 0
        for _ in 0..<TestRounds.rounds(10_000, stress: 1_000_000) {
            var message = good.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<message.count, using: &random)
                let end = min(index + Int.random(in: 0...3, using: &random), message.count)
                let bytes = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                message.replaceSubrange(index..<end, with: bytes)
            }
            message.withUnsafeBytes { bytes in
                guard let post = try? BridgedPost(bytes) else { return }
                valid += 1
                let name = String(utf8: post.payload.name) ?? ""
                XCTAssert(!name.isEmpty && !name.utf8.contains(0), "\(Array(bytes))")
                XCTAssertEqual(bytes.first, UInt8(Wire.version))
                XCTAssertNotNil(post.payload.origin)
                XCTAssertGreaterThan(post.payload.sequence?.number ?? 0, 0)
                let texts = [post.payload.object, post.payload.origin?.machine, post.payload.origin?.user]
                for text in texts.compactMap({ $0 }) { XCTAssertNotNil(String(utf8: text), "\(Array(bytes))") }
                guard post.payload.hasUserInfo else { return XCTAssert(post.payload.userInfo.isEmpty) }
                XCTAssertNotNil(try? PropertyListReader.decode(post.payload.userInfo), "\(Array(bytes))")
            }
        }
        XCTAssertGreaterThan(valid, 100)
    }
}
