import XCTest

/// Fails the test and ends it if a condition does not hold.
package func require(
    _ condition: @autoclosure () throws -> Bool, _ message: @autoclosure () -> String = "",
    file: StaticString = #filePath,
    line: UInt = #line
) throws {
    guard try !condition() else { return }
    XCTFail(message(), file: file, line: line)
    throw RequirementFailed()
}

private struct RequirementFailed: Error {}

/// Fails the test unless `body` throws this error.
package func assertThrows<Failure: Error & Equatable>(
    _ expected: Failure, file: StaticString = #filePath, line: UInt = #line, _ body: () throws -> some Any
) {
    XCTAssertThrowsError(try body(), file: file, line: line) {
        XCTAssertEqual($0 as? Failure, expected, "\($0)", file: file, line: line)
    }
}

/// Fails the test unless `body` throws an error of this type.
package func assertThrows<Failure: Error>(
    _ expected: Failure.Type, file: StaticString = #filePath, line: UInt = #line, _ body: () throws -> some Any
) {
    XCTAssertThrowsError(try body(), file: file, line: line) {
        XCTAssert($0 is Failure, "\($0)", file: file, line: line)
    }
}
