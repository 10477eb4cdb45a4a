import XCTest

@testable import notify_demo

final class CallSourceTests: XCTestCase {
    /// - Parameter frames: a function, a file and a line each, the innermost first.
    private func line(_ frames: (String, String, Int)...) -> [String: Any] {
        let symbols = frames.map { function, file, line in
            ["Column": 3, "FileName": file, "FunctionName": function, "Line": line] as [String: Any]
        }
        return ["Address": "0x12", "ModuleName": "/bin/app", "Symbol": symbols]
    }

    private static let post = "$s20FoundationEssentials18NotificationCenterC0A0E4post4name6object8userInfoyF"

    func testACallIsAtTheLineOfTheSymbolizer() {
        XCTAssertEqual(
            CallSource(line(("main", "/src/App/main.swift", 9))),
            .location(file: "/src/App/main.swift", line: 9))
    }

    func testACallWithInlinedFunctionsOfFoundationIsAtTheLineOfItsCaller() {
        XCTAssertEqual(
            CallSource(
                line(
                    (Self.post, "/<compiler-generated>", 0),
                    ("$s10Foundation4SomeV", "/build/swift-corelibs-foundation/Sources/Foundation/Some.swift", 4),
                    ("$s3AppyyXEfU_", "/src/App/main.swift", 9), ("main", "/src/App/main.swift", 30))),
            .location(file: "/src/App/main.swift", line: 9))
    }

    func testACallInAnExtensionOfATypeOfFoundationIsAtItsLine() {
        let extended = "$s20FoundationEssentials18NotificationCenterC3AppE8postSaveyyF"
        XCTAssertEqual(
            CallSource(line((extended, "/src/App/Center.swift", 7))),
            .location(file: "/src/App/Center.swift", line: 7))
    }

    func testWithoutDebugInformationACallHasItsFunction() {
        XCTAssertEqual(
            CallSource(line(("$s3AppyyYbcfU0_", "main-1.o", 0))), .function("$s3AppyyYbcfU0_"))
    }

    func testWhatTheSymbolizerDoesNotKnowIsNoSource() {
        let error = ["Message": "No such file or directory"]
        for line in [
            line(("", "", 0)), line(), line((Self.post, "/<compiler-generated>", 0)), [:],
            ["Address": "0x12", "Error": error, "ModuleName": "/bin/app"],
        ] { XCTAssertNil(CallSource(line), "\(line)") }
    }

    func testAFileInTheDirectoryHasARelativePath() {
        func path(_ file: String, _ directory: String) -> CallSource {
            CallSource.location(file: file, line: 3).relative(to: directory)
        }
        XCTAssertEqual(path("/src/App/main.swift", "/src"), .location(file: "App/main.swift", line: 3))
        XCTAssertEqual(path("/src/App/main.swift", "/"), .location(file: "src/App/main.swift", line: 3))
        // As the library's own calls have it.
        for file in ["/src/Sources/App/main.swift", "/other/Tests/App/Folder/main.swift"] {
            XCTAssertEqual(path(file, "/src"), .location(file: "App/main.swift", line: 3))
        }
        XCTAssertEqual(path("/src/Sources/main.swift", "/src"), .location(file: "Sources/main.swift", line: 3))
        XCTAssertEqual(path("/src/Sources/App/main.c", "/src"), .location(file: "Sources/App/main.c", line: 3))
        XCTAssertEqual(path("/source/main.swift", "/src"), .location(file: "/source/main.swift", line: 3))
        XCTAssertEqual(path("./main.swift", "/src"), .location(file: "./main.swift", line: 3))
        XCTAssertEqual(CallSource.function("main").relative(to: "/src"), .function("main"))
    }

    func testAnAddressIsAnAbsolutePathAndAnOffset() {
        XCTAssertEqual(CallAddress("/bin/a+b+0x12af")?.query, "\"/bin/a+b\" 0x12af")
        XCTAssertEqual(CallAddress("/my apps/app+0x1")?.query, "\"/my apps/app\" 0x1")
        for text in [
            "", "/bin/app", "/bin/app+12", "/bin/app+0x", "/bin/app+0xzz", "app+0x12", "/a\n/b+0x1", "/\"+0x1",
        ] {
            XCTAssertNil(CallAddress(text), text)
        }
    }
}
