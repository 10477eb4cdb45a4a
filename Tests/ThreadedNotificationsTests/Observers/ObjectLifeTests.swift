import Testing

@testable import ThreadedNotifications

@Suite("ObjectLife")
struct ObjectLifeTests {
    private final class Object {
        let whenDeinitialised: () -> Void

        init(_ whenDeinitialised: @escaping () -> Void = {}) {
            self.whenDeinitialised = whenDeinitialised
        }

        deinit { whenDeinitialised() }
    }

    @Test("it is over when the object has been deallocated, with and without a weak reference to it")
    func deallocated() {
        for hasWeakReference in [false, true] {
            var object: Object? = Object()
            weak let reference = hasWeakReference ? object : nil
            let life = ObjectLife(of: object!)
            #expect(!life.isOver)
            object = nil
            #expect(life.isOver)
            #expect(reference == nil)
        }
    }

    @Test("it is over during the object's deinit")
    func deallocating() {
        var life: ObjectLife?
        var wasOver = false
        var object: Object? = Object { wasOver = life?.isOver == true }
        life = ObjectLife(of: object!)
        object = nil
        #expect(wasOver)
    }

    @Test("it stays over when other objects are allocated")
    func laterObjects() {
        let life = ObjectLife(of: Object())
        let later = (0..<1000).map { _ in Object() }
        #expect(life.isOver)
        #expect(later.allSatisfy { !ObjectLife(of: $0).isOver })
    }
}
