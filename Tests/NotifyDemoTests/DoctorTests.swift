import SharedTesting
import XCTest

final class DoctorTests: XCTestCase {
    func testDoctorRecordsAProgramAndNamesTheLibraryTheSymbolizerAndTheServerAndSaysWhatToDoWithoutThem() throws {
        let outcome = try Shell.inDirectory(
            """
            export d=$PWD/s; notify-demo doctor --directory "$d"; echo "status $?"
            notify-demo observe A -N 1 --directory "$d" -- sh -c 'notify-demo doctor --directory "$d"; \
            notify-demo post A --directory "$d"' 2>&1; echo "status $?"
            cp "$(command -v notify-demo)" .; export LD_LIBRARY_PATH="$(dirname "$(command -v notify-demo)")"
            PATH=/nonexistent ./notify-demo doctor --directory "$d"; echo "status $?"
            """)
        let parts = outcome.output.components(separatedBy: "status ")
        try require(parts.count == 4, "\(outcome)")
        XCTAssertEqual(parts[1...].map { $0.prefix(1) }, ["0", "0", "2"])
        for (part, texts) in [
            (
                parts[0],
                [
                    #"ok      recording  a program was recorded with /.*/libnotification-recorder.so"#,
                    #"\nok      sources    .* /.*/llvm-symbolizer\n"#,
                    #"\nabsent  server     no server runs at /.*/s\. The first .* starts one\.\n$"#,
                ]
            ),
            (
                parts[1],
                [
                    #"ok +server +process \d+ serves at .* with version \d+ of"#
                ]
            ),
            (
                parts[2],
                [
                    "failed  recording  cannot record: libnotification-recorder.so is neither",
                    "Build it with 'swift build --product notification-recorder'",
                    "\nabsent  sources    llvm-symbolizer is not in PATH",
                ]
            ),
        ] {
            for text in texts { XCTAssertNotNil(part.firstMatch(of: try Regex(text)), "\(text): \(part)") }
        }
    }
}
