import XCTest

@testable import notify_demo

final class RecordedCallsTests: XCTestCase {
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

    func testAnAddressThatIsNotKnownStays() {
        let lines = """
            {"n":1,"at":"/bin/app+0x12","function":"$s3AppyyF+0x4"}
            {"n":2,"at":"/bin/other+0x12"}
            """
        XCTAssertEqual(resolved(lines, [:]), lines)
        XCTAssertEqual(resolved(lines, ["/bin/app+0x13": .function("f")]), lines)
    }

    func testAFunctionIsAddedToAnAddressThatHasNone() {
        let function = ["/bin/app+0x12": CallSource.function("main")]
        XCTAssertEqual(
            resolved(#"{"at":"/bin/app+0x12","by":1}"#, function), #"{"at":"/bin/app+0x12","function":"main","by":1}"#)
        let known = #"{"at":"/bin/app+0x12","function":"f+0x2"}"#
        XCTAssertEqual(resolved(known, function), known)
    }

    func testTextThatLooksLikeAnAddressInANameAndATruncatedLineStay() {
        let lines = #"{"name":"\"at\":\"/bin/app+0x12\""}"# + "\n" + #"{"n":2,"at":"/bin/app+0x12"#
        XCTAssertEqual(resolved(lines, ["/bin/app+0x12": .location(file: "main.swift", line: 1)]), lines)
        XCTAssertEqual(RecordedCalls.addresses(in: Array(lines.utf8)), [])
    }

    func testTheAddressesOfLinesAreDistinct() {
        let lines =
            #"{"at":"/a+0x1"}"# + "\n" + #"{"at":"/b+0x2","by":1}"# + "\n" + #"{"at":"/a+0x1"}"# + #"{"at":"?"}"#
        XCTAssertEqual(
            RecordedCalls.addresses(in: Array(lines.utf8)),
            Set(["/a+0x1", "/b+0x2"].compactMap { CallAddress($0) }))
    }
}
