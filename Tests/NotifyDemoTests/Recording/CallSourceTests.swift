import XCTest

@testable import notify_demo

final class CallSourceTests: XCTestCase {
    private static let post = "$s20FoundationEssentials18NotificationCenterC0A0E4post4name6object8userInfoyF"

    func testACallIsAtTheLineOfTheInnermostFunctionThatIsNotFoundationsOrHasTheFunctionsName() {
        let cases: [([(function: String, file: String, line: Int)], CallSource?)] = [
            ([("main", "/src/App/main.swift", 9)], .location(file: "/src/App/main.swift", line: 9)),
            // Functions of Foundation are inlined.
            (
                [
                    (Self.post, "/<compiler-generated>", 0),
                    ("$s10Foundation4SomeV", "/build/swift-corelibs-foundation/Sources/Foundation/Some.swift", 4),
                    ("$s3AppyyXEfU_", "/src/App/main.swift", 9), ("main", "/src/App/main.swift", 30),
                ], .location(file: "/src/App/main.swift", line: 9)
            ),
            // An extension of a type of Foundation.
            (
                [("$s20FoundationEssentials18NotificationCenterC3AppE8postSaveyyF", "/src/App/Center.swift", 7)],
                .location(file: "/src/App/Center.swift", line: 7)
            ),
            // There is no debug information.
            ([("$s3AppyyYbcfU0_", "main-1.o", 0)], .function("$s3AppyyYbcfU0_")),
            ([("", "", 0)], nil), ([], nil), ([(Self.post, "/<compiler-generated>", 0)], nil),
        ]
        for (frames, source) in cases {
            let symbols = frames.map {
                ["FileName": $0.file, "FunctionName": $0.function, "Line": $0.line] as [String: Any]
            }
            let line: [String: Any] = ["Address": "0x12", "ModuleName": "/bin/app", "Symbol": symbols]
            XCTAssertEqual(CallSource(line), source, "\(frames)")
        }
        XCTAssertNil(CallSource([:]))
        XCTAssertNil(CallSource(["Error": ["Message": "No such file or directory"], "ModuleName": "/bin/app"]))
    }

    func testAFileInTheDirectoryHasARelativePathOrThatOfItsModule() {
        for (file, directory, relative) in [
            ("/src/App/main.swift", "/src", "App/main.swift"), ("/src/App/main.swift", "/", "src/App/main.swift"),
            ("/src/Sources/App/main.swift", "/src", "App/main.swift"),
            ("/other/Tests/App/Folder/main.swift", "/src", "App/main.swift"),
            ("/src/Sources/main.swift", "/src", "Sources/main.swift"),
            ("/src/Sources/App/main.c", "/src", "Sources/App/main.c"),
            ("/source/main.swift", "/src", "/source/main.swift"), ("./main.swift", "/src", "./main.swift"),
        ] {
            let source = CallSource.location(file: file, line: 3).relative(to: directory)
            XCTAssertEqual(source, .location(file: relative, line: 3), file)
        }
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

    // MARK: In lines

    private func resolved(_ lines: String, _ sources: [String: CallSource]) -> String {
        let pairs = sources.compactMap { text, source in CallAddress(text).map { ($0, source) } }
        return String(
            decoding: RecordedCalls.resolved(Array(lines.utf8), Dictionary(uniqueKeysWithValues: pairs)), as: UTF8.self)
    }

    func testFileAndLineReplaceTheAddressAndTheFunctionOfEachLine() {
        XCTAssertEqual(
            resolved(
                """
                {"n":1,"stage":"post","at":"/bin/app+0x12","function":"$s3AppyyF+0x4"}
                {"n":2,"stage":"deliver"}
                {"n":3,"stage":"post","at":"/bin/app+0x34","by":2}
                {"n":4,"at":"/bin/app+0x12"}

                """,
                [
                    "/bin/app+0x12": .location(file: "App/main.swift", line: 9),
                    "/bin/app+0x34": .location(file: "/src/a \"b\".swift", line: 10),
                ]),
            """
            {"n":1,"stage":"post","file":"App/main.swift","line":9}
            {"n":2,"stage":"deliver"}
            {"n":3,"stage":"post","file":"/src/a \\"b\\".swift","line":10,"by":2}
            {"n":4,"file":"App/main.swift","line":9}

            """)
    }

    func testAnUnknownAddressAndTextThatLooksLikeOneStayAndAFunctionIsAddedToAnAddressWithoutOne() {
        let known = ["/bin/app+0x12": CallSource.function("main")]
        for (line, expected) in [
            (#"{"n":2,"at":"/bin/other+0x12"}"#, nil), (#"{"at":"/bin/app+0x12","function":"f+0x2"}"#, nil),
            (#"{"name":"\"at\":\"/bin/app+0x12\""}"#, nil), (#"{"n":2,"at":"/bin/app+0x12"#, nil),
            (#"{"at":"/bin/app+0x12","by":1}"#, #"{"at":"/bin/app+0x12","function":"main","by":1}"#),
        ] as [(String, String?)] {
            XCTAssertEqual(resolved(line, known), expected ?? line)
        }
    }

    func testTheAddressesOfLinesAreCounted() throws {
        let lines = #"{"at":"/a+0x1"}\#n{"at":"/b+0x2","by":1}\#n{"at":"/a+0x1"}{"at":"?"}{"name":"\"at\":\"/c+0x1\""}"#
        let (a, b) = (try XCTUnwrap(CallAddress("/a+0x1")), try XCTUnwrap(CallAddress("/b+0x2")))
        XCTAssertEqual(RecordedCalls.addresses(in: Array(lines.utf8)), [a: 2, b: 1])
    }
}
