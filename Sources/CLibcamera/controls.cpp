#include "bridge.h"

#include <algorithm>
#include <iterator>
#include <vector>

using namespace libcamera;

namespace {

clibcamera_control_type typeOf(const ControlId &id) {
    switch (id.type()) {
    case ControlTypeBool: return id.isArray() ? CLIBCAMERA_OTHER : CLIBCAMERA_BOOL;
    case ControlTypeByte:
    case ControlTypeUnsigned16:
    case ControlTypeUnsigned32:
    case ControlTypeInteger32:
    case ControlTypeInteger64: return CLIBCAMERA_INTEGER;
    case ControlTypeFloat: return CLIBCAMERA_FLOAT;
    case ControlTypeRectangle: return CLIBCAMERA_RECTANGLE;
    default: return CLIBCAMERA_OTHER;
    }
}

// An unbounded list reports the largest possible size.
size_t countOf(const ControlId &id) {
    if (!id.isArray()) return 1;
    return id.size() == dynamic_extent ? 0 : id.size();
}

template <typename Number>
double firstOf(const ControlValue &value) {
    if (!value.isArray()) return static_cast<double>(value.get<Number>());
    auto all = value.get<Span<const Number>>();
    return all.empty() ? 0 : static_cast<double>(all[0]);
}

void tellBounds(const ControlValue &value, double (&bounds)[4]) {
    if (value.type() != ControlTypeRectangle) {
        bounds[0] = clibcamera::firstNumber(value);
    } else if (value.isArray()) {
        // For lists of rectangles, one rectangle gives the bounds.
        auto all = value.get<Span<const Rectangle>>();
        if (!all.empty()) tellBounds(ControlValue(all[0]), bounds);
    } else {
        auto rectangle = value.get<Rectangle>();
        const double numbers[] = {double(rectangle.x), double(rectangle.y), double(rectangle.width),
                                  double(rectangle.height)};
        std::copy(std::begin(numbers), std::end(numbers), bounds);
    }
}

std::vector<clibcamera_named_value> valuesOf(const ControlId &id, const ControlInfo &info) {
    std::vector<clibcamera_named_value> values;
    const auto &names = id.enumerators();
    for (const ControlValue &value : info.values()) {
        double number = clibcamera::firstNumber(value);
        auto found = names.find(static_cast<int32_t>(number));
        values.push_back({found == names.end() ? nullptr : found->second.c_str(), number});
    }
    if (!info.values().empty()) return values;
    for (const auto &[number, name] : names) {
        if (number < clibcamera::firstNumber(info.min()) || number > clibcamera::firstNumber(info.max())) continue;
        values.push_back({name.c_str(), double(number)});
    }
    return values;
}

template <typename Number>
ControlValue numbersOf(const ControlId &id, const double *numbers, size_t count) {
    std::vector<Number> all;
    for (size_t index = 0; index < count; index++) all.push_back(static_cast<Number>(numbers[index]));
    return id.isArray() ? ControlValue(Span<const Number>(all)) : ControlValue(all[0]);
}

ControlValue rectanglesOf(const ControlId &id, const double *numbers, size_t count) {
    std::vector<Rectangle> all;
    for (size_t index = 0; index < count; index += 4) {
        all.emplace_back(
            static_cast<int>(numbers[index]), static_cast<int>(numbers[index + 1]),
            Size(static_cast<unsigned>(numbers[index + 2]), static_cast<unsigned>(numbers[index + 3])));
    }
    return id.isArray() ? ControlValue(Span<const Rectangle>(all)) : ControlValue(all[0]);
}

} // namespace

namespace clibcamera {

double firstNumber(const ControlValue &value) {
    switch (value.type()) {
    case ControlTypeBool: return firstOf<bool>(value);
    case ControlTypeByte: return firstOf<uint8_t>(value);
    case ControlTypeUnsigned16: return firstOf<uint16_t>(value);
    case ControlTypeUnsigned32: return firstOf<uint32_t>(value);
    case ControlTypeInteger32: return firstOf<int32_t>(value);
    case ControlTypeInteger64: return firstOf<int64_t>(value);
    case ControlTypeFloat: return firstOf<float>(value);
    default: return 0;
    }
}

void tellControls(const ControlInfoMap &controls, clibcamera_control_taker give, void *context) {
    for (const auto &[id, info] : controls) {
        auto values = valuesOf(*id, info);
        clibcamera_control control{
            id->name().c_str(), id->id(), typeOf(*id), countOf(*id), {}, {}, values.data(), values.size()};
        tellBounds(info.min(), control.minimum);
        tellBounds(info.max(), control.maximum);
        give(context, &control);
    }
}

ControlValue controlValue(const ControlId &id, const double *numbers, size_t count) {
    const size_t each = id.type() == ControlTypeRectangle ? 4 : 1, wanted = countOf(id);
    if (count == 0 || count % each != 0 || (wanted != 0 && count != wanted * each)) return ControlValue();
    switch (id.type()) {
    case ControlTypeBool: return id.isArray() ? ControlValue() : ControlValue(numbers[0] != 0);
    case ControlTypeByte: return numbersOf<uint8_t>(id, numbers, count);
    case ControlTypeUnsigned16: return numbersOf<uint16_t>(id, numbers, count);
    case ControlTypeUnsigned32: return numbersOf<uint32_t>(id, numbers, count);
    case ControlTypeInteger32: return numbersOf<int32_t>(id, numbers, count);
    case ControlTypeInteger64: return numbersOf<int64_t>(id, numbers, count);
    case ControlTypeFloat: return numbersOf<float>(id, numbers, count);
    case ControlTypeRectangle: return rectanglesOf(id, numbers, count);
    default: return ControlValue();
    }
}

} // namespace clibcamera
