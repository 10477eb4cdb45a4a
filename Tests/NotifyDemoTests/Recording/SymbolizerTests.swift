import Foundation
import SharedTesting
import XCTest

@testable import notify_demo

final class SymbolizerTests: XCTestCase {
    /// Runs a body with a directory that has executable scripts.
    private func withScripts(_ scripts: [String: String], _ body: (URL) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        for (path, script) in scripts {
            let file = directory.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("#!/bin/sh\n\(script)\n".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        }
        try body(directory)
    }

    private let calls = ["/bin/app+0x1", "/bin/app+0x2"].compactMap { CallAddress($0) }

    func testTheSymbolizerIsInPathOrBesideSwift() throws {
        try withScripts(["bin/llvm-symbolizer": "", "toolchain/swift": "", "toolchain/llvm-symbolizer": ""]) {
            directory in
            let (bin, toolchain) = ("\(directory.path)/bin", "\(directory.path)/toolchain")
            try FileManager.default.createSymbolicLink(
                at: directory.appending(path: "bin/swift"),
                withDestinationURL: directory.appending(path: "toolchain/swift"))
            XCTAssertEqual(Symbolizer(searchPath: "/none:\(bin):\(toolchain)")?.path, "\(bin)/llvm-symbolizer")
            try FileManager.default.removeItem(atPath: "\(bin)/llvm-symbolizer")
            let besideSwift = try XCTUnwrap(Symbolizer(searchPath: bin)?.path)
            XCTAssertEqual(URL(filePath: besideSwift).resolvingSymlinksInPath().path, besideSwift)
            XCTAssertTrue(besideSwift.hasSuffix("/toolchain/llvm-symbolizer"))
            XCTAssertNil(Symbolizer(searchPath: "/none"))
            XCTAssertNil(Symbolizer(searchPath: ""))
        }
    }

    func testALineOfTheOutputIsTheSourceOfTheAddressThatItNamesWhereverItIs() throws {
        let script = #"""
            source() {
                echo "{\"Address\":\"$2\",\"ModuleName\":\"$1\",\"Symbol\":[{\"FileName\":\"/$3.swift\",\"Line\":7}]}"
            }
            cat > /dev/null
            echo warning: a library is missing
            source /bin/app 0x002 b
            source /bin/other 0x1 d
            source /bin/app 0x1 a
            echo '{"Address":"0x3","ModuleName":"/bin/app","Error":{"Message":"unknown"}}'
            """#
        try withScripts(["llvm-symbolizer": script]) { directory in
            let symbolizer = try XCTUnwrap(Symbolizer(searchPath: directory.path))
            let asked = ["0x1", "0x2", "0x3", "0x4"].compactMap { CallAddress("/bin/app+\($0)") }
            XCTAssertEqual(
                symbolizer.sources(of: asked),
                [asked[0]: .location(file: "/a.swift", line: 7), asked[1]: .location(file: "/b.swift", line: 7)])
            XCTAssertEqual(symbolizer.sources(of: []), [:])
        }
    }

    func testASymbolizerThatFailsOrDoesNotEndKnowsNothing() throws {
        let known =
            #"echo '{"Address":"0x1","ModuleName":"/bin/app","Symbol":[{"FileName":"/a.swift","FunctionName":"f","Line":7}]}'"#
        try withScripts([
            "fails/llvm-symbolizer": "\(known); exit 1", "hangs/llvm-symbolizer": "\(known); exec tail -f",
        ]) {
            XCTAssertEqual(Symbolizer(searchPath: "\($0.path)/fails")?.sources(of: calls), [:])
            XCTAssertEqual(
                Symbolizer(searchPath: "\($0.path)/hangs")?.sources(of: calls, timeout: .milliseconds(10)), [:])
        }
        XCTAssertEqual(Symbolizer(path: "/none/llvm-symbolizer").sources(of: calls), [:])
    }

    func testRecordWritesFilesAndLinesInPlaceOfAddresses() throws {
        let outcome = try Shell.run(
            #"""
            cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT
            cat > program <<'END'
            #!/bin/sh
            cat > "$THREADED_NOTIFICATIONS_RECORDING" <<LINES
            {"recording":2,"process":$$,"name":"program","n":1,"t":1,"wall":1}
            {"n":1,"t":2,"thread":1,"stage":"post","name":"Saved","post":1,"foundation":true,"at":"/bin/app+0x1","function":"f+0x1"}
            {"n":2,"t":3,"thread":1,"stage":"end","reason":"exit"}
            LINES
            END
            mkdir bin
            cat > bin/llvm-symbolizer <<'END'
            #!/bin/sh
            echo '{"Address":"0x1","ModuleName":"/bin/app","Symbol":[{"FileName":"'"$PWD"'/App/main.swift","FunctionName":"f","Line":7}]}'
            END
            chmod +x program bin/llvm-symbolizer
            PATH=$PWD/bin:$PATH notify-demo record -o run.jsonl -- ./program 2>&1
            sed -n 2p run.jsonl; wc -c < run.jsonl
            """#)
        let size = outcome.output.split(separator: "\n").last ?? ""
        XCTAssertEqual(
            outcome.output,
            """
            notify-demo: recorded 1 post in 2 records, \(size) bytes, to run.jsonl
            Next: notify-demo diagnose run.jsonl
            {"n":1,"t":2,"thread":1,"stage":"post","name":"Saved","post":1,"foundation":true,"file":"App/main.swift","line":7}
            \(size)

            """)
    }
}
