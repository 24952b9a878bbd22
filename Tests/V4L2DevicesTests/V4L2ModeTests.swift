import CLinux
import DevicePorts
import Media
import Testing

@testable import V4L2Devices

@Suite struct V4L2ModeTests {
    private let ranking = ["NV12", "YU12", "YUYV", "MJPG"].map { FourCC($0) }

    private func mode(_ format: String, _ width: Int, _ height: Int, _ fps: Int) -> V4L2Mode {
        V4L2Mode(format: FourCC(format), size: FrameSize(width: width, height: height), framesPerSecond: fps)
    }

    private func best(_ modes: [V4L2Mode], _ width: Int, _ height: Int, _ fps: Int) -> V4L2Mode? {
        modes.best(
            size: FrameSize(width: width, height: height), frameRate: FrameRate(framesPerSecond: fps),
            ranking: ranking)
    }

    @Test func fastCompressedModeBeatsSlowUncompressedOne() {
        let modes = [mode("YUYV", 1280, 720, 10), mode("MJPG", 1280, 720, 30), mode("YUYV", 640, 480, 30)]
        #expect(best(modes, 1280, 720, 30) == modes[1])
        #expect(best(modes, 1280, 720, 10) == modes[0])
        #expect(best(modes, 640, 480, 30) == modes[2])
    }

    @Test func sizeMattersMoreThanFormat() {
        let modes = [mode("NV12", 1920, 1080, 30), mode("YUYV", 640, 480, 30)]
        #expect(best(modes, 640, 480, 30) == modes[1])
    }

    @Test func missingSizeFallsBackToTheNextLargerElseTheLargest() {
        let modes = [mode("NV12", 320, 240, 30), mode("NV12", 1920, 1080, 30), mode("NV12", 1280, 720, 30)]
        #expect(best(modes, 640, 480, 30) == modes[2])
        #expect(best(modes, 3840, 2160, 30) == modes[1])
    }

    @Test func undecodableFormatsAreIgnored() {
        #expect(best([mode("H264", 640, 480, 30)], 640, 480, 30) == nil)
        #expect(best([], 640, 480, 30) == nil)
    }

    @Test func unknownRateCountsAsSufficient() {
        let modes = [mode("NV12", 640, 480, 0), mode("NV12", 640, 480, 5)]
        #expect(best(modes, 640, 480, 30) == modes[0])
    }

    @Test(arguments: [(640, 640), (641, 640), (10, 32), (9999, 1920), (47, 32), (48, 48)])
    func sizeIsFittedToTheDriversSteps(wanted: Int, fitted: Int) {
        #expect(wanted.fitted(32, 1920, 16) == fitted)
        #expect(5.fitted(8, 4, 0) == 8)
    }

    @Test func formatsHaveTheKernelsNumbers() {
        #expect(PixelFormat.nv12.fourCC.rawValue == 0x3231_564e)
        #expect(PixelFormat.i420.fourCC.rawValue == 0x3231_5559)
        #expect(PixelFormat.yuyv.fourCC.rawValue == 0x5659_5559)
        #expect(PixelFormat(FourCC("NV12")) == .nv12)
        #expect(PixelFormat(FourCC("MJPG")) == nil)
        // V4L2 names the bytes of RGB in memory order, libdrm from the highest byte.
        #expect(PixelFormat(v4l2: FourCC("RGB3")) == .bgr888)
        #expect(PixelFormat(v4l2: FourCC("BGR3")) == .rgb888)
        #expect(PixelFormat(FourCC("BG24")) == .bgr888)
        #expect(PixelFormat(FourCC("RG24")) == .rgb888)
        #expect(PixelFormat(v4l2: FourCC("RG24")) == nil)
        #expect(PixelFormat(v4l2: FourCC("AR24")) == .bgra)
        for format in [PixelFormat.i420, .nv12, .yuyv, .uyvy, .bgra, .rgba, .bgrx] {
            #expect(format.v4l2FourCC == format.fourCC)
        }
        #expect("\(FourCC("Y10 "))" == "Y10")
        #expect("\(FourCC(rawValue: 0xff00_4142))" == "BA??")
    }
}

@Suite struct V4L2ControlTests {
    private func control(
        _ kind: V4L2Control.Kind, _ minimum: Int64, _ maximum: Int64, step: Int64 = 1, name: String = "x"
    ) -> V4L2Control {
        V4L2Control(
            id: 1, name: name, kind: kind, minimum: minimum, maximum: maximum, step: step, defaultValue: minimum)
    }

    @Test func namesMatchV4L2Ctl() {
        #expect(control(.integer, 0, 1, name: "Focus, Absolute").name == "focus_absolute")
        #expect(control(.integer, 0, 1, name: "White Balance, Auto & Preset").name == "white_balance_auto_preset")
        #expect(control(.integer, 0, 1, name: "Gamma").name == "gamma")
    }

    @Test func valuesAreCheckedAgainstRangeAndStep() {
        let focus = control(.integer, 0, 250, step: 5)
        #expect(focus.value("25") == 25)
        #expect(focus.value("26") == nil)
        #expect(focus.value("255") == nil)
        #expect(focus.value("-5") == nil)
        #expect(focus.value("near") == nil)
        #expect(focus.possibleValues == "a whole number from 0 to 250 in steps of 5")
        #expect(control(.boolean, 0, 1).value("on") == 1)
        #expect(control(.boolean, 0, 1).value("false") == 0)
        #expect(control(.boolean, 0, 1).value("2") == nil)
        #expect(control(.integer64, .min, .max).value("9223372036854775807") == .max)
        #expect(control(.menu, 0, 3, step: 1).value("3") == 3)
    }
}

@Suite struct V4L2DeviceTests {
    private func failure(_ path: String) -> V4L2Error? {
        do {
            _ = try V4L2Device(capturingAt: path)
            return nil
        } catch {
            return error
        }
    }

    @Test func otherDevicesAreReported() {
        #expect(failure("/dev/no-such-video") == .missing(path: "/dev/no-such-video"))
        #expect(failure("/dev/null") == .wrongKind(path: "/dev/null", reason: "it is not a video device"))
    }
}

@Suite struct DriverLayoutTests {
    private let size = FrameSize(width: 636, height: 358)

    @Test func stridesMayExceedTheFrameWidth() {
        let layout = FrameLayout(format: .nv12, size: size, stride: 640, bufferSize: 640 * 537)
        #expect(layout?.planes.map(\.offset) == [0, 640 * 358])
        #expect(layout?.planes.map(\.stride) == [640, 640])
        #expect(layout?.byteCount == 640 * 537)
        #expect(FrameLayout(format: .i420, size: size, stride: 640, bufferSize: 640 * 537)?.planes[2].offset == 286_400)
        #expect(FrameLayout(format: .yuyv, size: size, stride: 1280, bufferSize: 1280 * 358)?.byteCount == 458_240)
        for format in [PixelFormat.rgb888, .bgr888] {
            let layout = FrameLayout(format: format, size: size, stride: 1920, bufferSize: 1920 * 358)
            #expect(layout?.planes.map(\.stride) == [1920])
            #expect(layout?.byteCount == 687_360)
            #expect(FrameLayout(format: format, size: size, stride: 1907, bufferSize: 1 << 30) == nil)
        }
        #expect(FrameLayout(format: .uyvy, size: size, stride: 1271, bufferSize: 1 << 30) == nil)
    }

    @Test func tooSmallBufferIsRefused() {
        #expect(FrameLayout(format: .nv12, size: size, stride: 640, bufferSize: 640 * 537 - 1) == nil)
        #expect(FrameLayout(format: .nv12, size: size, stride: 635, bufferSize: 1 << 30) == nil)
        #expect(FrameLayout(format: .nv12, size: size, stride: .max, bufferSize: 1 << 30) == nil)
        #expect(
            FrameLayout(format: .nv12, size: FrameSize(width: 0, height: 2), stride: 8, bufferSize: 1 << 30) == nil)
    }
}
