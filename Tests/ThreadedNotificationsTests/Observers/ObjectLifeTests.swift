import XCTest

@testable import ThreadedNotifications

final class ObjectLifeTests: XCTestCase {
    private final class Object {
        let whenDeinitialised: () -> Void

        init(_ whenDeinitialised: @escaping () -> Void = {}) {
            self.whenDeinitialised = whenDeinitialised
        }

        deinit { whenDeinitialised() }
    }

    func testItIsOverWhenTheObjectHasBeenDeallocatedWithAndWithoutAWeakReferenceToIt() {
        for hasWeakReference in [false, true] {
            var object: Object? = Object()
            weak let reference = hasWeakReference ? object : nil
            let life = ObjectLife(of: object!)
            XCTAssertFalse(life.isOver)
            object = nil
            XCTAssertTrue(life.isOver)
            XCTAssertNil(reference)
        }
    }

    func testItIsOverDuringTheObjectsDeinit() {
        var life: ObjectLife?
        var wasOver = false
        var object: Object? = Object { wasOver = life?.isOver == true }
        life = ObjectLife(of: object!)
        object = nil
        XCTAssertTrue(wasOver)
    }

    func testItStaysOverWhenOtherObjectsAreAllocated() {
        let life = ObjectLife(of: Object())
        let later = (0..<1000).map { _ in Object() }
        XCTAssertTrue(life.isOver)
        XCTAssertTrue(later.allSatisfy { !ObjectLife(of: $0).isOver })
    }
}
