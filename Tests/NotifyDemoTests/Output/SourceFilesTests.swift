import Foundation
import XCTest

@testable import notify_demo

final class SourceFilesTests: XCTestCase {
    func testAFileIsFoundByItsPathOrByItsModuleAndNameUnlessSeveralAreEquallyLikely() throws {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        for path in [
            "main.swift", "Sources/Examples/kitchen/main.swift", "Sources/App/Model/Store.swift",
            "Tests/App/Store.swift", "Lib/A/Twice.swift", "Lib/B/Twice.swift", ".build/Hidden.swift",
            "Deep/Only.swift", "run.jsonl",
        ] {
            let file = directory.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: file)
        }
        let files = SourceFiles(directory: directory.path)
        for (name, path) in [
            ("run.jsonl", "run.jsonl"), ("./Lib/../run.jsonl", "run.jsonl"),
            ("\(directory.path)/Deep/Only.swift", "Deep/Only.swift"), ("/usr/include/x.swift", "/usr/include/x.swift"),
            ("kitchen/main.swift", "Sources/Examples/kitchen/main.swift"), ("App/Store.swift", "Tests/App/Store.swift"),
            ("Other/Only.swift", "Other/Only.swift"), ("Only.swift", "Deep/Only.swift"),
            ("Other/Twice.swift", "Other/Twice.swift"),
            ("Other/Hidden.swift", "Other/Hidden.swift"), ("Other/None.swift", "Other/None.swift"),
        ] { XCTAssertEqual(files.path(name), path) }
    }
}
