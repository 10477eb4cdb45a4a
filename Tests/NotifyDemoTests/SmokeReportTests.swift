import DeliveryDiagnostics
import Foundation
import FoundationXML
import Scenarios
import Subprocess
import Testing

/// The reports of `smoke` for other programs.
@Suite("smoke's reports")
struct SmokeReportTests {
    private static func temporaryPath() -> String { "/dev/shm/notify-demo-\(UUID().uuidString)" }

    private func document(_ text: String) throws -> XMLElement {
        try #require(text.hasSuffix("</testsuites>\n"))
        // Foundation reads a malformed document as far as possible, and its parser's `parse()` returns true despite an
        // error.
        let parser = XMLParser(data: Data(text.utf8))
        _ = parser.parse()
        try #require(parser.parserError == nil, "line \(parser.lineNumber) of \(text)")
        let document = try XMLDocument(xmlString: text)
        return try #require(document.rootElement())
    }

    @Test("--junit writes a file with the same results as the lines")
    func junit() async throws {
        let path = Self.temporaryPath()
        // The earlier file, which is longer.
        try String(repeating: "old ", count: 25_000).write(toFile: path, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let outcome = try await Shell.run("notify-demo smoke --junit \(path)")
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        let root = try document(String(contentsOfFile: path, encoding: .utf8))
        let suites = root.elements(forName: "testsuite")
        #expect(suites.map { $0.attribute(forName: "name")?.stringValue } == ScenarioCatalog.all.map(\.name))
        let claims = suites.flatMap { suite in
            suite.elements(forName: "testcase").map { testCase in
                ["classname", "name"].map { testCase.attribute(forName: $0)?.stringValue ?? "" }
                    .joined(separator: ": ")
            }
        }
        let lines = outcome.output.split(separator: "\n").dropLast().map { $0.dropFirst("ok      ".count) }
        #expect(claims.count == lines.count)
        for (claim, line) in zip(claims, lines) { #expect(claim == line) }
        #expect(root.attribute(forName: "tests")?.stringValue == "\(lines.count)")
    }

    @Test("--junit - prints only the report")
    func junitOnStandardOutput() async throws {
        let outcome = try await Shell.run("notify-demo smoke --junit -")
        #expect(outcome.status == .exited(0))
        #expect(outcome.errors == "")
        #expect(try document(outcome.output).elements(forName: "testsuite").count == ScenarioCatalog.all.count)
    }

    @Test("--tap prints as many test points as planned, in sequence; a file may be written as well")
    func tap() async throws {
        let path = Self.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let outcome = try await Shell.run("notify-demo smoke --tap --junit \(path)")
        #expect(outcome.status == .exited(0))
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.first == "TAP version 13")
        let points = lines.dropFirst().dropLast()
        for (number, point) in zip(1..., points) { #expect(point.hasPrefix("ok \(number) - ")) }
        #expect(lines.last == "1..\(points.count)")
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test("a scenario that cannot be run is a failure with its reason in both reports")
    func failure() async throws {
        let path = Self.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        // A program cannot start itself again after its file was removed.
        let outcome = try await Shell.run(
            """
            cp "$(command -v notify-demo)" \(path); exec 3< \(path); rm \(path)
            exec /proc/self/fd/3 smoke --tap --junit \(path)
            """)
        #expect(outcome.status == .exited(1), "\(outcome.errors)")
        let lines = outcome.output.split(separator: "\n")
        let point = try #require(lines.firstIndex { $0.hasPrefix("not ok ") })
        #expect(lines[point].hasSuffix(" - observer-lifetime: can be run"))
        #expect(lines[point + 1] == "  ---")
        #expect(lines[point + 2].hasPrefix("  message: \"the second process: "))
        let root = try document(String(contentsOfFile: path, encoding: .utf8))
        // The distributed scenarios also fail.
        #expect(root.attribute(forName: "failures")?.stringValue == "4")
        let failure = try root.nodes(forXPath: "//testcase[@classname='observer-lifetime']/failure/@message")
        #expect(failure.count == 1)
        #expect(failure.first?.stringValue?.contains("\(path) (deleted)") == true)
    }

    @Test(
        "a report that cannot be written is an error before the scenarios run",
        arguments: [
            ("/nonexistent/report.xml", "No such file or directory"), ("/", "Is a directory"), ("''", "\"\": "),
        ])
    func unwritable(path: String, message: String) async throws {
        let outcome = try await Shell.run("notify-demo smoke --junit \(path)")
        #expect(outcome.status == .exited(2))
        #expect(outcome.output == "")
        #expect(outcome.errors.contains(message) && outcome.errors.contains("cannot write"), "\(outcome.errors)")
    }

    @Test("a terminal shows the running scenario on standard error after a second, and clears it")
    func progress() async throws {
        // The program starts itself again by its path, where this test puts a script that waits until the progress line
        // was shown.
        let outcome = try await Shell.run(
            """
            cd "$(mktemp -d)"; here=$PWD; trap 'rm -r "$here"' EXIT
            cp "$(command -v notify-demo)" t; exec 3< t; rm t
            echo '#!/bin/bash
            for i in {1..6000}; do grep -q "observer-lifetime, 6 of" shown && break; sleep 0.01; done
            exec notify-demo "$@"' > 't (deleted)'
            chmod +x 't (deleted)'
            script -qfec "/proc/$$/fd/3 smoke > lines" shown > /dev/null
            tail -n 1 lines; cat shown
            """)
        #expect(outcome.output.contains(" passed, 0 failed\n"), "\(outcome.output)")
        #expect(outcome.output.contains("\robserver-lifetime, 6 of \(ScenarioCatalog.all.count): running\u{1B}[K"))
        #expect(outcome.output.contains("\r\u{1B}[K"))
    }

    @Test("a disk that is full when the report is written is an error, and the lines are printed")
    func fullDisk() async throws {
        let outcome = try await Shell.run("notify-demo smoke --junit /dev/full")
        #expect(outcome.status == .exited(2))
        #expect(outcome.output.hasSuffix(" passed, 0 failed\n"))
        #expect(outcome.errors.contains("cannot write /dev/full: No space left on device"))
    }
}
