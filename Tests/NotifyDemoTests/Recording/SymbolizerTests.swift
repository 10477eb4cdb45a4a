import Foundation
import SharedTesting
import XCTest

@testable import notify_demo

/// The source locations that `record` writes in place of addresses.
final class SymbolizerTests: XCTestCase {
    func testAKnownSourceReplacesItsAddressAndTextThatLooksLikeOneStays() {
        let known = [
            "/bin/app+0x12": #""file":"App/main.swift","line":9"#, "/bin/app+0x34": #""file":"a \"b\".swift","line":7"#,
        ]
        for (line, expected) in [
            (
                #"{"n":1,"at":"/bin/app+0x12","function":"$s3AppyyF+0x4"}"#,
                #"{"n":1,"file":"App/main.swift","line":9}"#
            ),
            (#"{"at":"/bin/app+0x34","by":2}"#, #"{"file":"a \"b\".swift","line":7,"by":2}"#),
            (#"{"n":2,"at":"/bin/other+0x12"}"#, nil), (#"{"at":"/bin/app+0x56","function":"f+0x2"}"#, nil),
            (#"{"name":"\"at\":\"/bin/app+0x12\""}"#, nil), (#"{"n":2,"at":"/bin/app+0x12"#, nil),
        ] as [(String, String?)] {
            let lines = Array("{\"n\":1}\n\(line)\n".utf8)
            let resolved = String(decoding: RecordedCalls.resolved(lines, known), as: UTF8.self)
            XCTAssertEqual(resolved, "{\"n\":1}\n\(expected ?? line)\n")
        }
    }

    /// The symbolizer is a script that prints what it prints, in another order and with other lines.
    func testACallIsAtTheInnermostLineOutsideOfFoundationInAFileOfItsModuleOrOfTheDirectory() throws {
        let outcome = try Shell.run("mktemp -d")
        let directory = outcome.output.trimmingCharacters(in: .newlines)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let frames: [(frames: [(String, Int)], file: String?)] = [
            ([("/d/main.swift", 7)], "main.swift"), ([("/d/Sources/App/Folder/a.swift", 7)], "App/a.swift"),
            ([("/d/Sources/main.swift", 7)], "Sources/main.swift"), ([("/e/a.c", 7)], "/e/a.c"),
            // Functions of Foundation are inlined.
            (
                [
                    ("/<compiler-generated>", 0), ("/b/swift-foundation/a.swift", 4), ("/e/a.swift", 7),
                    ("/e/b.swift", 9),
                ],
                "/e/a.swift"
            ),
            ([("main-1.o", 0)], nil), ([], nil),
        ]
        let lines = frames.enumerated().reversed().map { number, frames in
            let symbols = frames.frames.map { #"{"FileName":"\#($0)","FunctionName":"f","Line":\#($1)}"# }
            return #"{"Address":"0x\#(number)","ModuleName":"/app","Symbol":[\#(symbols.joined(separator: ","))]}"#
        }
        for (name, end) in [("works", ""), ("fails", "exit 1"), ("hangs", "exec tail -f")] {
            let script = "#!/bin/sh\ncat > /dev/null; echo a warning; echo '\(lines.joined(separator: "\n"))'\n\(end)\n"
            _ = FileManager.default.createFile(
                atPath: "\(directory)/\(name)", contents: Data(script.utf8), attributes: [.posixPermissions: 0o755])
        }
        let calls = Set(frames.indices.map { "/app+0x\($0)" })
        let sources = Symbolizer(path: "\(directory)/works").sources(of: calls, from: "/d")
        XCTAssertEqual(
            frames.indices.map { sources["/app+0x\($0)"] },
            frames.map { $0.file.map { "\"file\":\"\($0)\",\"line\":7" } })
        XCTAssertEqual(Symbolizer(path: "\(directory)/fails").sources(of: calls, from: "/"), [:])
        let hanging = Symbolizer(path: "\(directory)/hangs")
        XCTAssertEqual(hanging.sources(of: calls, from: "/", timeout: .milliseconds(10)), [:])
    }
}
