import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// The code, the commands, the picture and the links of all documents.
final class DocumentsTests: XCTestCase {
    func testEachBlockHasACheckOrALineBeforeItThatSaysWhyNotAndEachLinkLeadsToAFileASectionOrAnArticle() {
        for document in Document.all {
            for block in document.blocks where !["swift", "console"].contains(block.language) {
                XCTAssertTrue(block.isMarkedUnchecked, "\(document):\(block.line)")
            }
            let directory = Repository.root.appending(path: document.path).deletingLastPathComponent()
            let files =
                document.text.matches(of: /\]\(([^):#]+)\)/).map { "\($0.output.1)" }
                + document.text.matches(of: /<doc:([A-Za-z]+)>/).map { "\($0.output.1).md" }
            for file in files {
                XCTAssertTrue(
                    FileManager.default.fileExists(atPath: directory.appending(path: file).path), "\(document): \(file)"
                )
            }
            let sections = document.text.matches(of: /(?m)^#+ (.*)$/).map {
                $0.output.1.lowercased().replacing(" ", with: "-")
            }
            for link in document.text.matches(of: /\]\(#([^)]+)\)/) {
                XCTAssertTrue(sections.contains(String(link.output.1)), "\(document): #\(link.output.1)")
            }
        }
    }

    func testEachSwiftBlockIsCompiledItIsAnExampleProgramOrAnExampleInTheseTests() throws {
        let sources = try Self.sources()
        let examples = sources.flatMap(Self.examples)
        let imports = Set(sources.flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("import ") })
        for document in Document.all {
            for block in document.checkedBlocks("swift") where !sources.contains(block.text) {
                // An example is the body of a function, which cannot contain imports.
                let lines = block.text.split(separator: "\n", omittingEmptySubsequences: false)
                let code = lines.drop { $0.isEmpty || $0.hasPrefix("import ") }.joined(separator: "\n")
                XCTAssertTrue(examples.contains(code), "no test compiles \(document):\(block.line)")
                XCTAssertTrue(lines.allSatisfy { !$0.hasPrefix("import ") || imports.contains($0) })
            }
        }
    }

    func testEachCommandPrintsWhatItsDocumentShowsAndOfAnotherRunApartFromTimesIdsAndCounts() throws {
        for document in Document.all where !document.checkedBlocks("console").isEmpty {
            let shell = try DocumentShell()
            for block in document.checkedBlocks("console") {
                for session in block.text.components(separatedBy: "$ ").dropFirst() {
                    let lines = session.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
                    try check(String(lines[0]), prints: lines.count > 1 ? String(lines[1]) : "", shell, document)
                }
            }
            try shell.end()
        }
    }

    private func check(_ command: String, prints text: String, _ shell: DocumentShell, _ document: Document) throws {
        let printed = try shell.run(command)
        // One document compiles the program with optimization, another without.
        if command.contains("notify-demo check plain.jsonl") {
            let places = "posted at plain.swift:10; observed at plain.swift:6"
            XCTAssertTrue(printed.output.contains(places), "\(document): \(printed)")
        }
        // What is printed of the recording in this repository is always the same.
        if command.contains(/^notify-demo (check|diagnose|show|stats|timeline)\b/), !command.contains("plain.jsonl") {
            XCTAssertEqual(printed.output, text, "\(document): \(command)")
            return
        }
        let shown = Self.shape(of: text)
        // A document shows standard output, or both as on a terminal.
        if Self.shape(of: printed.output + printed.errors) != shown {
            XCTAssertEqual(Self.shape(of: printed.output), shown, "\(document): \(command)\n\(printed.errors)")
        }
    }

    func testEachScenarioIsShown() throws {
        let shell = try DocumentShell()
        let commands = Document.all.flatMap(\.blocks).map(\.text).joined()
        let list = try shell.run("notify-demo list | grep -o '^[a-z-]*'").output.split(separator: "\n")
        XCTAssertGreaterThan(list.count, 5)
        // The machines need programs that are not built here.
        for name in list where name != "machines" {
            XCTAssertTrue(commands.contains("$ notify-demo run \(name)"), "\(name)")
        }
        try shell.end()
    }

    func testThePictureIsDrawnFromTheRecordingBesideItWhichIsTheSameAsANewOne() throws {
        let shell = try DocumentShell()
        let drawn = try shell.run("notify-demo timeline --svg kitchen.jsonl")
        let picture = try String(contentsOf: DocumentShell.recording("svg"), encoding: .utf8)
        XCTAssertEqual(drawn.output, picture, "draw it again: notify-demo timeline kitchen.jsonl --svg -o kitchen.svg")
        let compared = try shell.run(
            "notify-demo record -o new.jsonl -- kitchen >&2; notify-demo compare kitchen.jsonl new.jsonl")
        XCTAssertTrue(compared.output.hasPrefix("the same"), "\(compared)")
        try shell.end()
    }

    /// The examples whose main loop is not Foundation's.
    func testEachMainLoopReceivesAllNotificationsInOrderWhileItsOwnTimersAndIdleHandlersAreCalled() throws {
        let script = Repository.root.appending(path: "Scripts/main-loops.sh").path
        // It compiles three programs.
        let run = try ChildProgram(path: "bash", arguments: [script, try Shell.directory()])
            .run(timeout: TestTimeout.hang * 5)
        let lines = run.output.split(separator: "\n")
        let skipped = lines.filter { $0.hasPrefix("skipped ") }
        XCTAssertEqual(run.end, .exit(skipped.isEmpty ? 0 : 77), "\(run)")
        XCTAssertEqual(lines.first, "epoll-loop: 100000 notifications in order")
        XCTAssertEqual(
            lines.count { $0.hasSuffix("-loop: 100000 notifications in order") } + skipped.count, 3, "\(run)")
        if !skipped.isEmpty { throw XCTSkip(skipped.joined(separator: "; ")) }
    }

    /// The source texts of the example programs, and of the examples in these tests.
    private static func sources() throws -> [String] {
        let directories = ["Sources/Examples", "Tests/DocumentsTests/Examples", "Tests/async-main-child"].map {
            Repository.root.appending(path: $0)
        }
        return try directories.flatMap { directory in
            let names = FileManager.default.enumerator(atPath: directory.path)?.allObjects ?? []
            return try names.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.map {
                try String(contentsOf: directory.appending(path: $0), encoding: .utf8)
            }
        }
    }

    /// The examples of a source text: the lines between two comments, without the indentation of the first.
    private static func examples(in source: String) -> [String] {
        source.components(separatedBy: "// example: begin\n").dropFirst().map { text in
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let indentation = lines.first?.prefix { $0 == " " }.count ?? 0
            return lines.prefix { !$0.hasSuffix("// example: end") }.map { "\($0.dropFirst(indentation))\n" }.joined()
        }
    }

    /// Splits a text into lines, with every number as 0, every duration as 0 s, every size as 0 bytes, and every run of
    /// blanks as one. It also removes the name of a posting process, because the process may have ended, and the rows
    /// of a timeline where nothing happened for long.
    private static func shape(of text: String) -> [String] {
        text.replacing(/notify-demo(?=\[[0-9]+\] →)/, with: "")
            .replacing(/(?m)^ .*┆.* later\n/, with: "").replacing(/0x[0-9a-f]+|[0-9]+(\.[0-9]+)?/, with: "0")
            .replacing(/0 (ns|[µm]?s)\b/, with: "0 s").replacing(/0 [kM]B\b/, with: "0 bytes")
            .replacing(/\ +/, with: " ").split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
