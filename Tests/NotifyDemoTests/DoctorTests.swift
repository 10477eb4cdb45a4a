import SharedTesting
import XCTest

final class DoctorTests: XCTestCase {
    func testDoctorRecordsAProgramAndNamesTheLibraryTheSymbolizerAndTheServer() throws {
        let outcome = try Shell.run(
            """
            d=$(mktemp -d); notify-demo doctor --directory $d/s; echo "status $?"; ls $d; rm -r $d
            export d=$(mktemp -d); notify-demo wait A --directory $d -- sh -c 'notify-demo doctor --directory $d; \
            notify-demo doctor --json --directory $d; notify-demo post A --directory $d'; rm -r $d
            """)
        let parts = outcome.output.components(separatedBy: "status 0\n")
        try require(parts.count == 2, "\(outcome)")
        let recorded = /ok      recording  a program was recorded with \/.*\/libnotification-recorder.so/
        XCTAssertNotNil(parts[0].prefixMatch(of: recorded), parts[0])
        XCTAssertNotNil(parts[0].firstMatch(of: /\nok      sources    .* \/.*\/llvm-symbolizer\n/), parts[0])
        XCTAssertNotNil(parts[0].firstMatch(of: /\nabsent  server     no server runs at \/.*\/s\. The first/), parts[0])
        XCTAssertTrue(parts[0].hasSuffix("starts one.\n"), "nothing is left behind: \(parts[0])")
        XCTAssertNotNil(
            parts[1].firstMatch(of: /\nok  server     process \d+, \/.*, serves at \/.* with version 2 of/), parts[1])
        XCTAssertTrue(parts[1].contains(#"{"part":"recording","result":"ok","text":"a program was recorded"#), parts[1])
    }

    func testDoctorSaysWhatToDoWithoutTheLibraryAndWithoutASymbolizer() throws {
        let outcome = try Shell.run(
            """
            d=$(mktemp -d); cp "$(command -v notify-demo)" $d; export LD_LIBRARY_PATH="$(dirname "$(command -v notify-demo)")"
            PATH=/nonexistent $d/notify-demo doctor; echo "status $?"; rm -r $d
            """)
        let failed = "failed  recording  cannot record: libnotification-recorder.so is neither"
        XCTAssertTrue(outcome.output.hasPrefix(failed))
        XCTAssertTrue(outcome.output.contains("Build it with 'swift build --product notification-recorder'"))
        XCTAssertTrue(outcome.output.contains("\nabsent  sources    llvm-symbolizer is neither in PATH"))
        XCTAssertTrue(outcome.output.hasSuffix("status 2\n"), "\(outcome)")
    }
}
