import Foundation
import SharedTesting
import XCTest

@testable import notify_demo

/// The source locations that `record` writes in place of addresses.
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
            XCTAssertEqual(CallSource(["Symbol": symbols]), source, "\(frames)")
        }
        XCTAssertNil(CallSource([:]))
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
    }

    func testAKnownSourceReplacesItsAddressOrIsAddedToItAndTextThatLooksLikeOneStays() {
        let known: [String: CallSource] = [
            "/bin/app+0x12": .location(file: "App/main.swift", line: 9),
            "/bin/app+0x34": .location(file: "/src/a \"b\".swift", line: 10), "/bin/app+0x56": .function("main"),
        ]
        for (line, expected) in [
            (
                #"{"n":1,"at":"/bin/app+0x12","function":"$s3AppyyF+0x4"}"#,
                #"{"n":1,"file":"App/main.swift","line":9}"#
            ),
            (#"{"at":"/bin/app+0x34","by":2}"#, #"{"file":"/src/a \"b\".swift","line":10,"by":2}"#),
            (#"{"at":"/bin/app+0x56","by":1}"#, #"{"at":"/bin/app+0x56","function":"main","by":1}"#),
            (#"{"n":2,"at":"/bin/other+0x12"}"#, nil), (#"{"at":"/bin/app+0x56","function":"f+0x2"}"#, nil),
            (#"{"name":"\"at\":\"/bin/app+0x12\""}"#, nil), (#"{"n":2,"at":"/bin/app+0x12"#, nil),
        ] as [(String, String?)] {
            let lines = Array("{\"n\":1}\n\(line)\n".utf8)
            let resolved = String(decoding: RecordedCalls.resolved(lines, known), as: UTF8.self)
            XCTAssertEqual(resolved, "{\"n\":1}\n\(expected ?? line)\n")
        }
    }

    func testTheSymbolizerIsInPathOrBesideSwiftALineIsThatOfItsAddressAndOneThatFailsOrDoesNotEndKnowsNothing() throws {
        let outcome = try Shell.run("mktemp -d")
        let directory = outcome.output.trimmingCharacters(in: .newlines)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        _ = try Shell.run(
            #"""
            cd \#(directory); mkdir bin toolchain fails hangs; ln -s ../toolchain/swift bin/swift
            echo '#!/bin/sh
            source() { echo "{\"Address\":\"$2\",\"ModuleName\":\"$1\",\"Symbol\":[{\"FileName\":\"/$3.swift\",\"Line\":7}]}"; }
            cat > /dev/null; echo warning: a library is missing; source /bin/app 0x2 b; source /bin/other 0x1 d
            source /bin/app 0x1 a' | tee toolchain/llvm-symbolizer fails/llvm-symbolizer hangs/llvm-symbolizer > toolchain/swift
            echo 'exit 1' >> fails/llvm-symbolizer; echo 'exec tail -f' >> hangs/llvm-symbolizer; chmod +x */*
            """#)
        let calls = ["/bin/app+0x1", "/bin/app+0x2", "/bin/app+0x3", "?"]
        let symbolizer = try XCTUnwrap(Symbolizer(searchPath: "/none:\(directory)/bin"))
        XCTAssertTrue(symbolizer.path.hasSuffix("/toolchain/llvm-symbolizer"))
        let sources = symbolizer.sources(of: calls, from: "/d")
        XCTAssertEqual(
            calls.map { sources[$0] },
            [.location(file: "/a.swift", line: 7), .location(file: "/b.swift", line: 7), nil, nil])
        XCTAssertEqual(Symbolizer(searchPath: "\(directory)/fails")?.sources(of: calls, from: "/"), [:])
        XCTAssertEqual(
            Symbolizer(searchPath: "\(directory)/hangs:\(directory)/bin")?.sources(
                of: calls, from: "/", timeout: .milliseconds(10)),
            [:])
        XCTAssertNil(Symbolizer(searchPath: "/none"))
    }
}
