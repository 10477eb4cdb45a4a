import Foundation
import SystemPackage
import XCTest

@testable import notify_demo

final class ReplacementFileTests: XCTestCase {
    private var directory = URL(filePath: "/")
    private var file: URL { directory.appending(component: "a") }

    override func setUpWithError() throws {
        directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    override func tearDownWithError() throws { try FileManager.default.removeItem(at: directory) }

    private func text(_ file: URL) throws -> String { String(decoding: try Data(contentsOf: file), as: UTF8.self) }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path) }
    }

    /// A file for the destination `a`, which exists.
    private func replacement() throws -> ReplacementFile {
        try Data("old and longer".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
        let replacement = try ReplacementFile(file.path)
        try Data("new".utf8).write(to: URL(filePath: replacement.path))
        XCTAssertEqual(try text(file), "old and longer")
        return replacement
    }

    func testTheDestinationIsReplacedWithItsPermissionsAndNoOtherFileIsLeft() throws {
        try replacement().replaceDestination()
        XCTAssertEqual(try text(file), "new")
        XCTAssertEqual(try FilePath(file.path).stat().permissions.rawValue, 0o640)
        XCTAssertEqual(try names, ["a"])
    }

    func testADiscardedFileIsRemovedAndTheDestinationIsUnchanged() throws {
        _ = try replacement()
        XCTAssertEqual(try text(file), "old and longer")
        XCTAssertEqual(try names, ["a"])
    }

    func testAFileThatCannotReplaceTheDestinationIsCopiedIntoItAndRemoved() throws {
        do {
            let replacement = try replacement()
            // A file without a name cannot be renamed, but its content can be read.
            try FileManager.default.removeItem(atPath: replacement.path)
            let before = try FilePath(file.path).stat()
            try replacement.replaceDestination()
            XCTAssertTrue(before.isSameFile(as: try FilePath(file.path).stat()))
        }
        XCTAssertEqual(try text(file), "new")
        XCTAssertEqual(try names, ["a"])
    }

    func testAFileThatCanNeitherReplaceTheDestinationNorBeCopiedIsCompleteAndStays() throws {
        let replacement = try replacement()
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        XCTAssertThrowsError(try replacement.replaceDestination())
        XCTAssertTrue(replacement.isKept)
        XCTAssertEqual(try text(URL(filePath: replacement.path)), "new")
    }

    func testAMissingDirectoryADirectoryAndAnEmptyPathAreErrors() throws {
        for path in [directory.path + "/none/a", directory.path, ""] {
            XCTAssertThrowsError(try ReplacementFile(path), path)
        }
        XCTAssertEqual(try names, [])
    }

    func testAPathDecidesHowAnOutputIsWritten() throws {
        // Symbolic links are resolved, even several in a row and without a target.
        for (link, target) in [("one", "a"), ("two", directory.path + "/one")] {
            try FileManager.default.createSymbolicLink(
                atPath: directory.appending(component: link).path, withDestinationPath: target)
        }
        let paths = ["a", "one", "two"].map { directory.appending(component: $0).path }
        for exists in [false, true] {
            if exists { try Data("{}".utf8).write(to: file) }
            for path in paths { XCTAssertEqual(OutputDestination(path), .file(path: file.path), path) }
        }
        let open = try FileHandle(forWritingTo: file)
        for path in ["/dev/full", "/proc/self/fd/\(open.fileDescriptor)"] {
            XCTAssertEqual(OutputDestination(path), .stream(path: path))
        }
        for path in ["", "/tmp"] { XCTAssertEqual(OutputDestination(path), .file(path: path)) }
        XCTAssertTrue(OutputDestination("-").isStandardOutput)
        // An output would replace its input by any name of the file, but never a device.
        for output in paths + [directory.path + "/./a"] {
            XCTAssertTrue(OutputDestination.wouldReplace(file.path, byWriting: output), output)
        }
        for output in ["-", directory.path + "/c"] {
            XCTAssertFalse(OutputDestination.wouldReplace(file.path, byWriting: output))
        }
        XCTAssertFalse(OutputDestination.wouldReplace("/dev/null", byWriting: "/dev/null"))
    }
}
