import XCTest

@testable import DeliveryDiagnostics

final class ThreadDescriptionTests: XCTestCase {
    private func thread(_ number: Int, _ name: String?, kernelID: Bool = false) -> MessagePart {
        .thread(ThreadDescription(number: number, name: name, isKernelID: kernelID))
    }

    func testTheFormatsOfTheDocumentsAppleAndGNUstepAreParsed() {
        for (text, number, name, isKernelID) in [
            ("{number = 2, name = (null)}", 2, nil, false), ("{number = 1, name = main}", 1, "main", false),
            ("<NSThread: 0x600000c44000>{number = 12, name = (null)}", 12, nil, false),
            ("<_NSMainThread: 0x6000017080c0>{number = 1, name = main}", 1, "main", false),
            ("<NSThread: 0x55d0c8>{name = (null), num = 7305}", 7305, nil, true),
            ("{name = a, b, num = 7305}", 7305, "a, b", true), ("{number = 3, name = a, b}", 3, "a, b", false),
        ] as [(String, Int, String?, Bool)] {
            XCTAssertEqual(
                MessagePart.parts(of: "current thread = \(text)!"),
                [
                    .text("current thread = "), thread(number, name, kernelID: isKernelID), .text("!"),
                ])
        }
        XCTAssertEqual(
            MessagePart.parts(of: "{from {number = 1, name = main} to <NSThread: 0x7f>{number = 2, name = w}}"),
            [
                .text("{from "), thread(1, "main"), .text(" to "), thread(2, "w"), .text("}"),
            ])
        XCTAssertEqual(MessagePart.parts(of: "on <Thread: 0x55aa> x"), [.text("on  x")])
    }

    func testAnIncompleteDescriptionIsTextAndAMessageWithManyBracesIsParsedInOnePass() {
        for message in [
            "plain", "{", "}", "{}", "{number = }", "{number = x, name = y}", "{number = 2}", "{name = a}",
            "{number = 2, name}", "{name = a, number = 2}", "{number = 99999999999999999999, name = a}", "{{{{",
            "a {b} c", "{number = 1, name = main", "<NSThread: 0xyz>", "<NSString: 0x1>",
        ] {
            XCTAssertEqual(MessagePart.parts(of: message), [.text(message)])
        }
        XCTAssertEqual(MessagePart.parts(of: ""), [])
        for piece in ["{", "{name = ", "{number = 1, name = ", "}", "<NSThread: 0x1"] {
            let message = String(repeating: piece, count: 65_536 / piece.utf8.count)
            XCTAssertEqual(MessagePart.parts(of: message), [.text(message)])
        }
    }
}
